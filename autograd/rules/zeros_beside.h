// Zeros for where(condition, g, zeros), which many rules end in.
#pragma once

#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::autograd::formulas {

/// Zeros of the shape of g, to select from. Where they are many, all are one element: filling memory with them, and
/// reading it, would double the cost of the rule. A few are filled sooner than one is expanded.
inline Tensor zeros_beside(const Tensor& g) {
  constexpr int64_t kMany = 8192;
  return g.numel() < kMany ? zeros_like(g) : expand(zeros({}, g.dtype(), g.device()), g.shape());
}

}  // namespace weft::autograd::formulas
