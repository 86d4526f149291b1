// Writes by the indices of one axis, or of all elements in a row. Of several writes to one position the last stays. An
// index is checked: IndexError `index 7 is out of range for an axis of size 5`. A tensor without axes counts as one of
// shape (1). src is cast to x's dtype; where that is of integers, DtypeError for a floating src (or alpha), Error for an
// integer that it does not hold.
#pragma once

#include <concepts>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// A copy of `x` with slice i of `src` in place of slice index[i] along `axis`; src has x's shape but for index's size
/// there.
Tensor index_copy(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src);
/// A copy of `x` with `value` in the slices that `index` (negative: from the end) names.
Tensor index_fill(const Tensor& x, int64_t axis, const Tensor& index, const Scalar& value);
namespace detail {
Tensor index_add_to(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, const Scalar& alpha);
}
/// `x`, with alpha * slice i of `src` added to slice index[i] along `axis`. DtypeError for bool.
template <std::same_as<Tensor> T>
Tensor index_add(const Tensor& x, int64_t axis, const Tensor& index, const T& src, const Scalar& alpha = 1) {
  return detail::index_add_to(x, axis, index, src, alpha);
}
/// The elements of `x` in row-major order that `index` (any shape; negative: from the end) names, in its shape.
Tensor take(const Tensor& x, const Tensor& index);
/// x's elements along `axis` that `indices` names, of x's rank, as argsort and argmax give them; the other axes
/// broadcast. Without an axis: of all elements in a row. Negative indices count from the end.
Tensor take_along_dim(const Tensor& x, const Tensor& indices, std::optional<int64_t> axis = std::nullopt);
/// A copy of `x` with `src` at the positions (in row-major order) that `index` of the same shape names, or added there.
Tensor put(const Tensor& x, const Tensor& index, const Tensor& src, bool accumulate = false);

}  // namespace weft
