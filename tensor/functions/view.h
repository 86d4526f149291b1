// The view ops: a new way to index the same memory, never a copy. Semantics: DESIGN.md, "easy to get wrong".
//
// A masked (padded) input whose view no strides can express is materialised first (a recorded copy). A tensor without
// axes takes axis 0 and -1 in squeeze, transpose, movedim, flip and unfold.
#pragma once

#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// The same elements in row-major order under another shape, one size may be -1 (inferred). ShapeError where the
/// strides cannot express it (use reshape) or the number of elements differs.
Tensor view(const Tensor& x, const Shape& shape);
/// view() where strides allow, else contiguous() and then a view: copies only then, and keeps history.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Without `axis` where its size is 1, else unchanged.
Tensor squeeze(const Tensor& x, int64_t axis);
/// Without any axis of size 1.
Tensor squeeze_all(const Tensor& x);
inline Tensor squeeze(const Tensor& x) { return squeeze_all(x); }
/// A new axis of size 1 at `axis` in [-(rank+1), rank].
Tensor unsqueeze(const Tensor& x, int64_t axis);
/// Two axes swapped.
Tensor transpose(const Tensor& x, int64_t axis0, int64_t axis1);
/// Axis i of the result is axis axes[i] of `x`.
Tensor permute(const Tensor& x, const IntList& axes);
/// Axis `source` moved to `destination`, the others in order.
Tensor movedim(const Tensor& x, int64_t source, int64_t destination);
/// Python's slice along `axis`: bounds clamp, count from the end where negative, are open where absent. step may be
/// negative (a reversed view), not 0. The result may be empty.
Tensor slice(const Tensor& x, int64_t axis, std::optional<int64_t> start = std::nullopt,
             std::optional<int64_t> end = std::nullopt, int64_t step = 1);
/// One index of `axis`, which disappears. IndexError out of range.
Tensor select(const Tensor& x, int64_t axis, int64_t index);
/// [begin, end) of every axis; may be empty.
Tensor shrink(const Tensor& x, const std::vector<Interval>& bounds);
/// `length` entries of `axis` from `start`, which counts from the end where negative. IndexError where they leave it.
Tensor narrow(const Tensor& x, int64_t axis, int64_t start, int64_t length);
/// Sliding windows of `size` along `axis`, `step` apart; their content is a new last axis. The view overlaps itself
/// where step < size: backward sums, writing is refused. A tensor without axes gives (size), as in PyTorch.
Tensor unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step);
/// Reversed along each of `axes`.
Tensor flip(const Tensor& x, const IntList& axes);
/// Zeros before and after each axis, as a view: nothing is stored. One pair per axis.
Tensor pad(const Tensor& x, const std::vector<Padding>& padding);
/// Axes of size 1 to larger sizes with stride 0; new axes on the left; -1 keeps a size.
Tensor expand(const Tensor& x, const Shape& shape);
/// A stride-0 view of `shape`, new axes on the left.
Tensor broadcast(const Tensor& x, const Shape& shape);
Tensor broadcast_like(const Tensor& x, const Tensor& other);
/// New axes of sizes `batch_dims` on the left.
Tensor broadcast_left(const Tensor& x, const Shape& batch_dims);
/// The diagonal of two axes as a new last axis.
Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t axis0 = 0, int64_t axis1 = 1);
/// expand(), movedim() and flatten() of all axes by NumPy's names; tensors as views of the shape they broadcast to.
inline Tensor broadcast_to(const Tensor& x, const Shape& shape) { return expand(x, shape); }
inline Tensor moveaxis(const Tensor& x, int64_t source, int64_t destination) { return movedim(x, source, destination); }
Tensor ravel(const Tensor& x);
std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors);
/// Axes start..end (inclusive) merged into one; copies where strides cannot express it. A scalar becomes [1].
Tensor flatten(const Tensor& x, int64_t start = 0, int64_t end = -1);
/// One axis split into `sizes` (one may be -1).
Tensor unflatten(const Tensor& x, int64_t axis, const Shape& sizes);
/// Any strides over the elements of a row-major `x`, from its `offset`-th. ShapeError where `x` is not contiguous or
/// the view would leave it.
Tensor as_strided(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset = 0);
/// Pieces of `size` along `axis`, the last one smaller where it does not divide.
std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t axis = 0);
/// At most `count` pieces of equal size (the last may be smaller); of an axis of size 0 `count` of them.
std::vector<Tensor> chunk(const Tensor& x, int64_t count, int64_t axis = 0);

}  // namespace weft
