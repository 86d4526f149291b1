// Order along an axis: sorts, selections and what is made of them. NaN counts as larger than everything, zeros of both
// signs as equal, and equal elements stay in their order. Gradients go to the elements that were chosen. A tensor
// without axes counts as one of shape (1) and takes axis 0 and -1.
#pragma once

#include <concepts>

#include "tensor/tensor.h"

namespace weft {

/// Values in ascending (descending: NaN first) order along `axis`, and where each was (i64). Any dtype.
ValuesAndIndices sort(const Tensor& x, int64_t axis = -1, bool descending = false);
/// The indices of sort().
Tensor argsort(const Tensor& x, int64_t axis = -1, bool descending = false);
/// The values of sort() along the first axis.
Tensor msort(const Tensor& x);
struct TopkOptions {
  int64_t axis = -1;
  bool largest = true;
  bool sorted = true;
};
/// The k largest (smallest), in order whatever `sorted` is, the axis at size k; of equals the first. Only what may be
/// among them is sorted. IndexError unless 0 <= k <= size.
ValuesAndIndices topk(const Tensor& x, int64_t k, const TopkOptions& options = {});
/// A template, so that topk(x, k, {}) takes options, not axis 0.
template <std::convertible_to<int64_t> T>
ValuesAndIndices topk(const Tensor& x, int64_t k, T axis, bool largest = true, bool sorted = true) {
  return topk(x, k, TopkOptions{static_cast<int64_t>(axis), largest, sorted});
}
/// The k-th smallest (from 1). IndexError unless 1 <= k <= size.
ValuesAndIndices kthvalue(const Tensor& x, int64_t k, int64_t axis = -1, KeepDim keep = {});
/// The most frequent value, the smallest of several, and its last position. ShapeError where the axis has size 0.
ValuesAndIndices mode(const Tensor& x, int64_t axis = -1, KeepDim keep = {});

/// The middle of all elements in order, the lower one of two (PyTorch's convention); NaN where there is one. Elements
/// of that value share the gradient. ShapeError over nothing.
Tensor median(const Tensor& x);
/// The same along an axis, with its position.
ValuesAndIndices median(const Tensor& x, int64_t axis, KeepDim keep = {});
/// The median of what is not NaN; NaN where everything is.
Tensor nanmedian(const Tensor& x);
ValuesAndIndices nanmedian(const Tensor& x, int64_t axis, KeepDim keep = {});

}  // namespace weft
