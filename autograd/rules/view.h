// Rules of views. The generic adjoint (zeros, the same view of them, the gradient added into it) serves every view; where
// a view covers its input exactly once, its inverse is the same thing without a copy, and an expansion is summed.
#pragma once

#include "autograd/rule.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/view.h"

namespace weft::autograd {

namespace detail {
/// The sum of an expanded gradient over what the expansion repeated.
inline Tensor sum_to(const Tensor& g, const Shape& shape) {
  const int64_t added = g.rank() - shape.rank();
  IntList axes;
  for (int64_t i = 0; i < g.rank(); ++i)
    if (i < added || (shape[static_cast<size_t>(i - added)] == 1 && g.size(i) != 1)) axes.push_back(i);
  return axes.empty() ? g : reshape(sum(g, axes), shape);
}
inline Tensor inverse_permute(const Tensor& g, const IntList& axes) {
  IntList inverse(axes.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) inverse[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  return permute(g, inverse);
}
inline constexpr auto reshape_back = per_input([](Grad g, ViewOf<0> x) { return reshape(g, x.shape()); });
}  // namespace detail

template <>
inline constexpr auto gradient<op::Reshape> = detail::reshape_back;
template <>
inline constexpr auto gradient<op::Squeeze> = detail::reshape_back;
template <>
inline constexpr auto gradient<op::SqueezeAll> = detail::reshape_back;
template <>
inline constexpr auto gradient<op::Unsqueeze> = detail::reshape_back;
template <>
inline constexpr auto gradient<op::Expand> = per_input([](Grad g, ViewOf<0> x) {
  return detail::sum_to(g, x.shape());
});
template <>
inline constexpr auto gradient<op::Permute> = per_input([](const op::Permute& op, Grad g) {
  return detail::inverse_permute(g, op.axes);
});
template <>
inline constexpr auto gradient<op::Flip> = per_input([](const op::Flip& op, Grad g) { return flip(g, op.axes); });
template <>
inline constexpr auto gradient<op::Pad> = per_input([](const op::Pad& op, Grad g, ViewOf<0> x) {
  std::vector<Interval> bounds;
  for (size_t i = 0; i < op.padding.size(); ++i)
    bounds.push_back({op.padding[i].first, op.padding[i].first + x.shape()[i]});
  return shrink(g, bounds);
});
template <>
inline constexpr auto gradient<op::Slice> = view_adjoint;
template <>
inline constexpr auto gradient<op::Select> = view_adjoint;
template <>
inline constexpr auto gradient<op::Shrink> = view_adjoint;
template <>
inline constexpr auto gradient<op::Unfold> = view_adjoint;
template <>
inline constexpr auto gradient<op::Diagonal> = view_adjoint;
template <>
inline constexpr auto gradient<op::AsStrided> = view_adjoint;

}  // namespace weft::autograd
