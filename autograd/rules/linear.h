// The rule of x weight^T + bias.
#pragma once

#include "autograd/rule.h"
#include "autograd/rules/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/ops/linear.h"

namespace weft::autograd {

// The gradient of the weight is computed in the weight's memory order, so that it need not be reordered, and in its
// dtype, which can be f32 while x is 16-bit. The gradient of the bias is then a sum of bf16, rounded once, without an
// f32 copy of g. For f16, g is first cast to the bias's dtype, because the sum could exceed the range of f16.
WEFT_GRADIENT(Linear) = per_input(
    [](Grad g, Input<1> w) { return formulas::product_into({}, g, w, g.dtype(), g.dtype()); },
    [](Grad g, Input<0> x, ViewOf<1> w, InputType<1> weight, Into<1> into) {
      if (!formulas::is_transposed(w.view))
        return formulas::product_into(into, formulas::swapped(g), x, g.dtype(), weight.dtype);
      const Tensor across = into.defined() ? formulas::swapped(into) : Tensor();
      return formulas::swapped(formulas::product_into(across, formulas::swapped(x), g, g.dtype(), weight.dtype));
    },
    [](Grad g, InputType<2> bias) {
      return g.dtype() == f16 ? sum(g, 0, {}, bias.dtype) : cast(sum(g, 0), bias.dtype);
    });

template <> inline constexpr int recomputed_inputs<op::Linear> = 3;
template <> inline constexpr bool is_expensive_to_recompute<op::Linear> = true;

}  // namespace weft::autograd
