// Sorting and selection along an axis. NaN counts as larger than every number, 0 and -0 are equal, and equal elements
// keep their order (stable). Gradients go to the selected elements. A 0-d tensor is treated as a tensor of shape (1)
// and accepts axis 0 and -1.
#pragma once

#include <concepts>

#include "tensor/tensor.h"

namespace weft {

/// The values in ascending order along `axis` (or descending, with NaN first), and the index of each in x (i64). Any
/// dtype.
ValuesAndIndices sort(const Tensor& x, int64_t axis = -1, bool descending = false);
template <NoAxis T> ValuesAndIndices sort(const Tensor& x, T, bool = false) = delete;  // a bool is no axis
/// The indices of sort().
Tensor argsort(const Tensor& x, int64_t axis = -1, bool descending = false);
template <NoAxis T> Tensor argsort(const Tensor& x, T, bool = false) = delete;
/// The values of sort() along the first axis.
Tensor msort(const Tensor& x);
struct TopkOptions {
  int64_t axis = -1;
  bool largest = true;
  bool sorted = true;
};
/// The k largest (or smallest) values along `axis` and their indices; the axis gets size k. If elements tie, the first
/// are selected. The result is always sorted, whatever `sorted` says. IndexError unless 0 <= k <= size.
ValuesAndIndices topk(const Tensor& x, int64_t k, const TopkOptions& options = {});
/// The same with separate arguments. A template, so that topk(x, k, {}) means default options and not axis 0.
template <std::convertible_to<int64_t> T>
  requires(!NoAxis<T>)
ValuesAndIndices topk(const Tensor& x, int64_t k, T axis, bool largest = true, bool sorted = true) {
  return topk(x, k, TopkOptions{static_cast<int64_t>(axis), largest, sorted});
}
/// The k-th smallest value (k counts from 1) and its index. IndexError unless 1 <= k <= size.
ValuesAndIndices kthvalue(const Tensor& x, int64_t k, int64_t axis = -1, KeepDim keep = {});
/// The most frequent value (the smallest one if there are several) and its last position. ShapeError if the axis has
/// size 0.
ValuesAndIndices mode(const Tensor& x, int64_t axis = -1, KeepDim keep = {});
template <NoAxis T> ValuesAndIndices mode(const Tensor& x, T, KeepDim = {}) = delete;

/// The median of all elements; for an even number of elements the lower of the two middle ones (PyTorch's convention).
/// NaN if an element is NaN. Elements equal to the median share the gradient evenly. ShapeError if there are no
/// elements.
Tensor median(const Tensor& x);
/// The median along an axis, and its position.
ValuesAndIndices median(const Tensor& x, int64_t axis, KeepDim keep = {});
template <NoAxis T> ValuesAndIndices median(const Tensor& x, T, KeepDim = {}) = delete;
/// The median of the elements that are not NaN; NaN if all are.
Tensor nanmedian(const Tensor& x);
ValuesAndIndices nanmedian(const Tensor& x, int64_t axis, KeepDim keep = {});
template <NoAxis T> ValuesAndIndices nanmedian(const Tensor& x, T, KeepDim = {}) = delete;

}  // namespace weft
