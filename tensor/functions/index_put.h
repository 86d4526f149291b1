// Writes at indices along one axis, or at indices into the flattened tensor. If an index occurs several times, the last
// write is kept. Indices are checked: IndexError `index 7 is out of range for an axis of size 5`. A 0-d tensor is
// treated as a tensor of shape (1). src is cast to x's dtype. If x is an integer tensor: DtypeError for a floating src
// or alpha, Error for an integer that x's dtype cannot hold.
#pragma once

#include <concepts>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// A copy of `x` whose slice index[i] along `axis` is replaced by slice i of `src`. src has x's shape, except that its
/// size along `axis` is the number of indices.
Tensor index_copy(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src);
/// A copy of `x` whose slices index[i] along `axis` are filled with `value`. Negative indices count from the end.
Tensor index_fill(const Tensor& x, int64_t axis, const Tensor& index, const Scalar& value);
namespace detail {
Tensor index_add_to(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, const Scalar& alpha);
}
/// A copy of `x` where alpha * slice i of `src` is added to slice index[i] along `axis`. DtypeError for bool.
template <std::same_as<Tensor> T>
Tensor index_add(const Tensor& x, int64_t axis, const Tensor& index, const T& src, const Scalar& alpha = 1) {
  return detail::index_add_to(x, axis, index, src, alpha);
}
/// The elements of the flattened (row-major) `x` at `index`, in index's shape. Negative indices count from the end.
Tensor take(const Tensor& x, const Tensor& index);
/// gather() along `axis` with `indices` of x's rank, as argsort and argmax (with keepdim) return them; the other axes
/// broadcast. Without an axis, indices refer to the flattened x. Negative indices count from the end.
Tensor take_along_dim(const Tensor& x, const Tensor& indices, std::optional<int64_t> axis = std::nullopt);
/// A copy of `x` whose elements at the flat row-major indices `index` are set to `src`, or increased by it with
/// `accumulate`. src has index's shape.
Tensor put(const Tensor& x, const Tensor& index, const Tensor& src, bool accumulate = false);

}  // namespace weft
