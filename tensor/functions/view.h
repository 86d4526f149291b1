// View ops: the result shares the memory of the input. See also DESIGN.md, "Semantics that are easy to get wrong".
//
// If the view of a masked (padded) input cannot be expressed by strides and a mask, the input is first copied (a
// recorded op). A 0-d tensor accepts axis 0 and -1 in squeeze, transpose, movedim, flip and unfold.
#pragma once

#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// The same elements, in row-major order, with another shape. One size may be -1 (inferred). ShapeError if strides
/// cannot express the view (use reshape) or the number of elements differs.
Tensor view(const Tensor& x, const Shape& shape);
/// view() if strides can express it, else a copy with that shape. Both keep history.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Removes `axis` if its size is 1; otherwise x is unchanged.
Tensor squeeze(const Tensor& x, int64_t axis);
/// Removes those of `axes` whose size is 1.
Tensor squeeze(const Tensor& x, const IntList& axes);
inline Tensor squeeze(const Tensor& x, std::initializer_list<int64_t> axes) { return squeeze(x, IntList(axes)); }
/// Removes all axes of size 1.
Tensor squeeze_all(const Tensor& x);
inline Tensor squeeze(const Tensor& x) { return squeeze_all(x); }
/// Inserts an axis of size 1 at position `axis`, which is in [-(rank+1), rank].
Tensor unsqueeze(const Tensor& x, int64_t axis);
/// x with at least 1, 2 or 3 axes. A vector (n) becomes a row (1, n), and (1, n, 1); a matrix (m, n) becomes (m, n, 1).
Tensor atleast_1d(const Tensor& x);
Tensor atleast_2d(const Tensor& x);
Tensor atleast_3d(const Tensor& x);
/// Swaps two axes.
Tensor transpose(const Tensor& x, int64_t axis0, int64_t axis1);
/// The same as transpose(), under NumPy's name.
Tensor swapaxes(const Tensor& x, int64_t axis0, int64_t axis1);
/// Axis i of the result is axis axes[i] of `x`.
Tensor permute(const Tensor& x, const IntList& axes);
/// Moves axis `source` to position `destination`; the other axes keep their order.
Tensor movedim(const Tensor& x, int64_t source, int64_t destination);
/// Moves axis sources[i] to position destinations[i]; the other axes keep their order.
Tensor movedim(const Tensor& x, const IntList& sources, const IntList& destinations);
/// Python's slice start:end:step along `axis`. Negative bounds count from the end, bounds out of range are clamped, and
/// either may be absent. A negative step gives a reversed view; 0 is an Error. The result may be empty.
Tensor slice(const Tensor& x, int64_t axis, std::optional<int64_t> start = std::nullopt,
             std::optional<int64_t> end = std::nullopt, int64_t step = 1);
/// The slice at `index` along `axis`; the result does not have that axis. IndexError if the index is out of range.
Tensor select(const Tensor& x, int64_t axis, int64_t index);
/// Keeps the interval [begin, end) of every axis; the result may be empty.
Tensor shrink(const Tensor& x, const std::vector<Interval>& bounds);
/// The `length` entries of `axis` from `start` on; a negative start counts from the end. IndexError if they exceed the
/// axis.
Tensor narrow(const Tensor& x, int64_t axis, int64_t start, int64_t length);
/// Sliding windows of `size` elements along `axis`, `step` apart. `axis` then counts the windows, and a new last axis
/// holds their elements. If step < size, the view overlaps itself: its gradient is summed, and writing to it is an
/// error. A 0-d tensor gives shape (size), as in PyTorch.
Tensor unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step);
/// Reverses the order of the elements along each of `axes`.
Tensor flip(const Tensor& x, const IntList& axes);
template <std::integral Axis> Tensor flip(const Tensor& x, Axis axis) { return flip(x, IntList{axis}); }
/// Reverse axis 1 (fliplr) and axis 0 (flipud).
Tensor fliplr(const Tensor& x);
Tensor flipud(const Tensor& x);
/// Adds zeros before and after each axis, as a masked view: the zeros are not stored. One pair per axis.
Tensor pad(const Tensor& x, const std::vector<Padding>& padding);
/// Expands axes of size 1 to the sizes of `shape` with stride 0. New axes are on the left. A size of -1 keeps x's size.
Tensor expand(const Tensor& x, const Shape& shape);
/// Broadcasts x to `shape` (or to other's shape) with stride 0; new axes are on the left.
Tensor broadcast(const Tensor& x, const Shape& shape);
Tensor broadcast_like(const Tensor& x, const Tensor& other);
/// Adds axes of sizes `batch_dims` on the left, with stride 0.
Tensor broadcast_left(const Tensor& x, const Shape& batch_dims);
/// The diagonal of two axes as a new last axis.
Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t axis0 = 0, int64_t axis1 = 1);
/// NumPy's names: the same as expand(), movedim(), and flatten() of all axes. broadcast_tensors() expands all tensors
/// to their common shape.
inline Tensor broadcast_to(const Tensor& x, const Shape& shape) { return expand(x, shape); }
inline Tensor moveaxis(const Tensor& x, int64_t source, int64_t destination) { return movedim(x, source, destination); }
inline Tensor moveaxis(const Tensor& x, const IntList& sources, const IntList& destinations) {
  return movedim(x, sources, destinations);
}
Tensor ravel(const Tensor& x);
std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors);
/// Merges axes start .. end (inclusive) into one. Copies only if strides cannot express it. A 0-d tensor gives shape
/// (1) and accepts axis 0 and -1.
Tensor flatten(const Tensor& x, int64_t start = 0, int64_t end = -1);
/// Splits one axis into axes of the given `sizes` (one may be -1).
Tensor unflatten(const Tensor& x, int64_t axis, const Shape& sizes);
/// A view with any shape and strides over the elements of a row-major `x`, starting at element `offset` of x (PyTorch
/// counts from the start of the memory). ShapeError if `x` is not contiguous or the view would exceed it.
Tensor as_strided(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset = 0);

}  // namespace weft
