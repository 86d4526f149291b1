// The rule of the matrix product.
#pragma once

#include "autograd/rule.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/view.h"
#include "tensor/ops/matmul.h"

namespace weft::autograd {

namespace formulas {
inline Tensor swapped(const Tensor& x) { return transpose(x, -2, -1); }
/// Whether rows are the fast axis: a transposed operand, such as the weight of a linear layer.
inline bool is_transposed(const View& x) {
  const int64_t r = x.rank();
  return x.stride(r - 2) == 1 && x.stride(r - 1) != 1;
}
}  // namespace formulas

// Each gradient is computed in the memory order of what it belongs to, so that it need not be reordered.
WEFT_GRADIENT(Matmul) = per_input(
    [](Grad g, ViewOf<0> a, Input<1> b) {
      return formulas::is_transposed(a.view) ? formulas::swapped(matmul(b, formulas::swapped(g)))
                                             : matmul(g, formulas::swapped(b));
    },
    [](Grad g, Input<0> a, ViewOf<1> b) {
      return formulas::is_transposed(b.view) ? formulas::swapped(matmul(formulas::swapped(g), a))
                                             : matmul(formulas::swapped(a), g);
    });

}  // namespace weft::autograd
