// Rules of reductions.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/rule.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/reduce.h"

namespace weft::autograd {

namespace formulas {
/// Reshapes `g` (the gradient of the result, or the result) so that it broadcasts with the input: reduced axes have
/// size 1.
inline Tensor kept(const Tensor& g, const IntList& axes, bool keepdim, const Shape& input) {
  if (keepdim) return g;
  Shape shape = input;
  for (int64_t axis : axes) shape[static_cast<size_t>(axis)] = 1;
  return reshape(g, shape);
}

/// For every element of (rows, n), the product of the other elements of its row. It is exact even with zeros, and
/// differentiable any number of times. Products of pairs are computed up a binary tree; the products of all other
/// elements are then computed down the tree.
inline Tensor product_of_others(const Tensor& x) {
  const int64_t rows = x.size(0), n = x.size(1);
  if (n <= 1) return ones_like(x);
  const Tensor even = n % 2 == 0 ? x : cat({x, ones({rows, 1}, x.dtype(), x.device())}, 1);
  const Tensor pairs = reshape(even, {rows, (n + 1) / 2, 2});
  const Tensor left = select(pairs, 2, 0), right = select(pairs, 2, 1);
  const Tensor others = product_of_others(left * right);
  return slice(reshape(stack({others * right, others * left}, 2), {rows, -1}), 1, 0, n);
}

/// Whether dividing each product by a factor gives the product of the other factors: no product or factor is 0, and no
/// product is subnormal, infinite or NaN.
inline bool can_be_divided(const Tensor& products) {
  const Tensor size = abs(products.detach());
  const Tensor normal = logical_and(size >= least_normal(size.dtype()), size < std::numeric_limits<double>::infinity());
  return all(dispatch::all_samples(normal)).item<bool>();
}

inline Tensor prod_gradient(const Tensor& g, const Tensor& x, const Tensor& y, const IntList& axes) {
  if (x.numel() == 0) return zeros_like(x);
  if (can_be_divided(y)) return g * (y / x);
  IntList order = internal::other_axes(x.rank(), axes);  // kept axes first
  int64_t count = 1;
  for (int64_t axis : axes) order.push_back(axis), count *= x.size(axis);
  const Tensor moved = permute(x, order);
  const Tensor others = reshape(product_of_others(reshape(moved, {x.numel() / count, count})), moved.shape());
  return g * permute(others, internal::inverse_permutation(order));
}

/// Elements that tie share the gradient evenly.
inline Tensor extremum_gradient(const Tensor& g, const Tensor& x, const Tensor& y, const IntList& axes) {
  const Tensor chosen = x == y;
  const DType wide = is_half_precision(g.dtype()) ? f32 : g.dtype();  // holds the number of ties
  const Tensor share = cast(g, wide) / cast(sum(chosen, axes, keepdim), wide);
  return cast(chosen, g.dtype()) * cast(share, g.dtype());
}

/// The gradient of (sum |x|^p)^(1/p); 0 where the norm is 0, or so small that 1 / norm would be infinite.
inline Tensor norm_gradient(double p, const Tensor& g, const Tensor& x, const Tensor& y, const IntList& axes) {
  if (p == 0.0) return zeros_like(x);
  if (std::isinf(p)) return sign(x) * extremum_gradient(g, abs(x), y, axes);
  if (p == 1.0) return g * sign(x);
  const Tensor zero = y <= least_normal(y.dtype()) / 4;
  const Tensor scale = g / where(zero, ones_like(y), y);
  if (p == 2.0) return where(zero, zeros_like(scale), scale) * x;
  const Tensor ratio = abs(x) / where(zero, ones_like(y), y);
  const Tensor flat = logical_or(zero, x == 0.0);
  const Tensor power = pow(masked_fill(ratio, flat, 1.0), p - 1.0);
  return masked_fill(g * power * sign(x), flat, 0.0);
}
}  // namespace formulas

WEFT_GRADIENT(Sum) = per_input([](const op::Sum& op, Grad g, ViewOf<0> x) {
  return expand(formulas::kept(g, op.axes, op.keepdim, x.shape()), x.shape());
});
WEFT_GRADIENT(NanSum) = per_input([](const op::NanSum& op, Grad g, Input<0> x) {
  return where(isnan(x), 0, formulas::kept(g, op.axes, op.keepdim, x.shape()));
});
WEFT_GRADIENT(Prod) = per_input([](const op::Prod& op, Grad g, Input<0> x, Output y) {
  return formulas::prod_gradient(formulas::kept(g, op.axes, op.keepdim, x.shape()), x,
                                 formulas::kept(y, op.axes, op.keepdim, x.shape()), op.axes);
});

namespace formulas {
template <class Op>
inline constexpr auto extremum_rule = per_input([](const Op& op, Grad g, Input<0> x, Output y) {
  return extremum_gradient(kept(g, op.axes, op.keepdim, x.shape()), x, kept(y, op.axes, op.keepdim, x.shape()),
                           op.axes);
});
}  // namespace formulas
WEFT_GRADIENT(Max) = formulas::extremum_rule<op::Max>;
WEFT_GRADIENT(Min) = formulas::extremum_rule<op::Min>;

WEFT_GRADIENT(All) = not_differentiable("truth values");
WEFT_GRADIENT(Any) = not_differentiable("truth values");

// The derivative is the softmax of x, and 0 if all elements are -infinity.
WEFT_GRADIENT(Logsumexp) = per_input([](const op::Logsumexp& op, Grad g, Input<0> x, Output y) {
  const Tensor top = formulas::kept(y, op.axes, op.keepdim, x.shape());
  const Tensor shift = where(top == -std::numeric_limits<double>::infinity(), zeros_like(top), top);
  return formulas::kept(g, op.axes, op.keepdim, x.shape()) * exp(x - shift);
});

WEFT_GRADIENT(Norm) = in_f32(per_input([](const op::Norm& op, Grad g, Input<0> x, Output y) {
  return formulas::norm_gradient(op.p, formulas::kept(g, op.axes, op.keepdim, x.shape()), x,
                                 formulas::kept(y, op.axes, op.keepdim, x.shape()), op.axes);
}));

// 2 (x - mean) / (n - correction), of the root half of that by the root. The root's slope at 0 is infinite, that of the
// variance 0: the gradient is 0 by convention.
WEFT_GRADIENT(Var) = in_f32(per_input([](const op::Var& op, Grad g, Input<0> x, Output y) {
  int64_t n = 1;
  for (int64_t axis : op.axes) n *= x.size(axis);
  const double count = std::max(0.0, static_cast<double>(n) - op.correction);  // as the value has it
  const Tensor along = formulas::kept(g, op.axes, op.keepdim, x.shape()), off = x - mean(x, op.axes, keepdim);
  if (!op.root) return along * (2.0 / count) * off;
  const Tensor root = formulas::kept(y, op.axes, op.keepdim, x.shape()), flat = root == 0.0;
  return where(flat, zeros_like(root), along / where(flat, ones_like(root), root)) * (1.0 / count) * off;
}));

}  // namespace weft::autograd
