// The rule of the matrix product.
#pragma once

#include <algorithm>
#include <limits>

#include "autograd/rule.h"
#include "autograd/rules/reduce.h"
#include "autograd/rules/zeros_beside.h"
#include "tensor/dispatch/apply_into.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/matmul.h"

namespace weft::autograd {

namespace formulas {
inline Tensor swapped(const Tensor& x) { return transpose(x, -2, -1); }
/// Whether the row axis has the smallest stride, as in a transposed operand such as the weight of a linear layer.
inline bool is_transposed(const View& x) {
  const int64_t r = x.rank();
  return x.stride(r - 2) == 1 && x.stride(r - 1) != 1;
}

/// The product of a and b, rounded to dtype `operands`, with a result of dtype `result`; a plain matmul if these are
/// their dtypes already. Written to `into` if that fits.
inline Tensor product_into(const Tensor& into, const Tensor& a, const Tensor& b, DType operands, DType result) {
  if (a.dtype() == operands && b.dtype() == operands && result == operands)
    return dispatch::apply_into(op::Matmul{}, into, a, b);
  const DType direct = result == operands || operands == f64 ? operands : f32;
  return cast(dispatch::apply_into(op::RoundedMatmul{operands, direct}, into, a, b), result);
}
}  // namespace formulas

// Each gradient is computed in the memory order of its tensor, so that it need not be reordered.
WEFT_GRADIENT(Matmul) = per_input(
    [](Grad g, ViewOf<0> a, Input<1> b) {
      return formulas::is_transposed(a.view) ? formulas::swapped(matmul(b, formulas::swapped(g)))
                                             : matmul(g, formulas::swapped(b));
    },
    [](Grad g, Input<0> a, ViewOf<1> b) {
      return formulas::is_transposed(b.view) ? formulas::swapped(matmul(formulas::swapped(g), a))
                                             : matmul(formulas::swapped(a), g);
    });

WEFT_GRADIENT(RoundedMatmul) =
    per_input([](const op::RoundedMatmul& op, Grad g, InputType<0> a,
                 Input<1> b) { return formulas::product_into({}, g, formulas::swapped(b), op.operands, a.dtype); },
              [](const op::RoundedMatmul& op, Grad g, Input<0> a, InputType<1> b) {
                return formulas::product_into({}, formulas::swapped(a), g, op.operands, b.dtype);
              });

namespace formulas {
/// The gradients of a and b in op::Cdist, from the norm of their differences. A few rows of a are handled at a time, so
/// that the differences stay in the cache.
inline std::vector<Tensor> differences_gradient(double p, const Tensor& g, const Tensor& a, const Tensor& b,
                                                const Tensor& y, Needs needs) {
  constexpr int64_t kTogether = 1 << 18;
  const int64_t p_rows = a.size(-2), of_row = p_rows == 0 ? 0 : a.numel() / p_rows * b.size(-2);
  const int64_t step = std::max<int64_t>(1, kTogether / std::max<int64_t>(1, of_row));
  std::vector<Tensor> parts, out(2);
  for (int64_t i = 0; i < p_rows; i += step) {
    const auto rows = [&](const Tensor& x) { return slice(x, -2, i, std::min(p_rows, i + step)); };
    const Tensor d = unsqueeze(rows(a), -2) - unsqueeze(b, -3);
    const Tensor part = norm_gradient(p, unsqueeze(rows(g), -1), d, unsqueeze(rows(y), -1), {d.rank() - 1});
    if (needs[0]) parts.push_back(sum(part, -2));
    if (needs[1]) out[1] = i == 0 ? -sum(part, -3) : out[1] - sum(part, -3);
  }
  if (needs[0]) out[0] = parts.empty() ? zeros_like(a) : parts.size() == 1 ? parts[0] : cat(parts, -2);
  if (needs[1] && !out[1].defined()) out[1] = zeros_like(b);
  return out;
}

/// The least distance as a part of the largest coordinate; infinity if there are none.
inline double least_distance(const Tensor& distances, const Tensor& a, const Tensor& b) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto largest = [&](const Tensor& x) {
    return norm(dispatch::all_samples(x.detach()), infinity).item<double>();
  };
  const Tensor all = dispatch::all_samples(distances.detach());
  if (all.numel() == 0 || a.numel() == 0) return infinity;
  return min(all).item<double>() / std::max(largest(a), largest(b));
}
}  // namespace formulas

// Row i of a gets the sum over j of w (a - b), w = g / y: 0 of rows that are equal, as the norm's. Both are taken from
// b's mean, which changes no difference, so that they have its digits; from 0 where the mean is infinite or NaN, which
// it can be beside rows that are not. Sums of weighted coordinates lose the digits of small differences: where f32
// does, they are in f64; where f64 does, the differences themselves are computed.
WEFT_GRADIENT(Cdist) = in_f32(joint([](const op::Cdist& op, Grad g, Input<0> a, Input<1> b, Output y, Needs needs) {
  if (op.p != 2) return formulas::differences_gradient(op.p, g, a, b, y, needs);
  Tensor middle;
  if (b.size(-2) > 0) middle = nan_to_num(mean(b.detach(), -2, keepdim), 0, 0, 0);
  const auto centered = [&](const Tensor& x) { return middle.defined() ? x - middle : x; };
  Tensor rows = centered(a), others = centered(b);
  const Tensor equal = y <= least_normal(y.dtype()) / 4;  // as in norm_gradient()
  const Tensor apart = where(equal, std::numeric_limits<double>::infinity(), y);
  const double least = formulas::least_distance(apart, rows, others);
  if (least < 0x1p-30) return formulas::differences_gradient(2, g, a, b, y, needs);
  Tensor w = where(equal, formulas::zeros_beside(g), g / apart);
  if (y.dtype() == f32 && least < 0x1p-8)
    w = cast(w, f64), rows = centered(cast(a, f64)), others = centered(cast(b, f64));
  std::vector<Tensor> out(2);
  if (needs[0]) out[0] = cast(rows * sum(w, -1, keepdim) - matmul(w, others), a.dtype());
  if (needs[1])
    out[1] = cast(others * formulas::swapped(sum(w, -2, keepdim)) - matmul(formulas::swapped(w), rows), b.dtype());
  return out;
}));

}  // namespace weft::autograd
