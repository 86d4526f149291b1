// The rule of rows times a weight plus a bias.
#pragma once

#include "autograd/rule.h"
#include "autograd/rules/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/ops/linear.h"

namespace weft::autograd {

// The weight's gradient is computed in the weight's memory order, so that it need not be reordered.
WEFT_GRADIENT(Linear) = per_input([](Grad g, Input<1> w) { return matmul(g, w); },
                                  [](Grad g, Input<0> x, ViewOf<1> w) {
                                    return detail::is_transposed(w.view)
                                               ? detail::swapped(matmul(detail::swapped(x), g))
                                               : matmul(detail::swapped(g), x);
                                  },
                                  [](Grad g) { return sum(g, 0); });

}  // namespace weft::autograd
