// The rule of rows times a weight plus a bias.
#pragma once

#include "autograd/rule.h"
#include "autograd/rules/matmul.h"
#include "tensor/dispatch/apply_into.h"
#include "tensor/functions/reduce.h"
#include "tensor/ops/linear.h"

namespace weft::autograd {

namespace formulas {
inline Tensor product_into(const Tensor& into, const Tensor& a, const Tensor& b) {
  return dispatch::apply_into(op::Matmul{}, into, a, b);
}
}  // namespace formulas

// The weight's gradient is computed in the weight's memory order, so that it need not be reordered.
WEFT_GRADIENT(Linear) = per_input([](Grad g, Input<1> w) { return matmul(g, w); },
                                  [](Grad g, Input<0> x, ViewOf<1> w, Into<1> into) {
                                    if (!formulas::is_transposed(w.view))
                                      return formulas::product_into(into, formulas::swapped(g), x);
                                    const Tensor across = into.defined() ? formulas::swapped(into) : Tensor();
                                    return formulas::swapped(formulas::product_into(across, formulas::swapped(x), g));
                                  },
                                  [](Grad g) { return sum(g, 0); });

}  // namespace weft::autograd
