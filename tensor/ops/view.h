// The view ops: a new way to index the same memory, never a copy. Semantics: DESIGN.md, "easy to get wrong".
//
// A masked (padded) input whose view no strides can express is materialised first (a recorded copy).
#pragma once

#include "tensor/apply.h"

namespace weft {

/// The same elements in row-major order under another shape, one size may be -1 (inferred). ShapeError where the strides
/// cannot express it (use reshape) or the number of elements differs.
Tensor view(const Tensor& x, const Shape& shape);
/// view() where strides allow, else contiguous() and then a view: copies only then, and keeps history.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Without `axis` where its size is 1, else unchanged.
Tensor squeeze(const Tensor& x, int64_t axis);
/// Without any axis of size 1.
Tensor squeeze_all(const Tensor& x);
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
/// `length` entries of `axis` from `start`. IndexError where they leave it.
Tensor narrow(const Tensor& x, int64_t axis, int64_t start, int64_t length);
/// Sliding windows of `size` along `axis`, `step` apart; their content is a new last axis. The view overlaps itself where
/// step < size: backward sums, writing is refused.
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
/// Axes start..end (inclusive) merged into one; copies where strides cannot express it. A scalar becomes [1].
Tensor flatten(const Tensor& x, int64_t start = 0, int64_t end = -1);
/// One axis split into `sizes` (one may be -1).
Tensor unflatten(const Tensor& x, int64_t axis, const Shape& sizes);
/// Any strides over the elements of a row-major `x`, from its `offset`-th. ShapeError where `x` is not contiguous or the
/// view would leave it.
Tensor as_strided(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset = 0);
/// Pieces of `size` along `axis`, the last one smaller where it does not divide.
std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t axis = 0);
/// At most `count` pieces of equal size (the last may be smaller).
std::vector<Tensor> chunk(const Tensor& x, int64_t count, int64_t axis = 0);

namespace op {

struct Reshape {
  Shape shape;
  static constexpr std::string_view name = "view";
  void attributes(auto visit) const { visit("shape", shape); }
  bool operator==(const Reshape&) const = default;
  std::optional<View> view(const View& in) const { return in.reshape(shape); }
};

struct Expand {
  Shape shape;
  static constexpr std::string_view name = "expand";
  void attributes(auto visit) const { visit("shape", shape); }
  bool operator==(const Expand&) const = default;
  std::optional<View> view(const View& in) const { return in.broadcast(shape); }
};

struct Permute {
  IntList axes;
  static constexpr std::string_view name = "permute";
  void attributes(auto visit) const { visit("axes", axes); }
  bool operator==(const Permute&) const = default;
  std::optional<View> view(const View& in) const { return in.permute(axes); }
};

struct Squeeze {
  int64_t axis;
  static constexpr std::string_view name = "squeeze";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Squeeze&) const = default;
  std::optional<View> view(const View& in) const { return in.squeeze(axis); }
};

struct SqueezeAll {
  static constexpr std::string_view name = "squeeze_all";
  void attributes(auto) const {}
  bool operator==(const SqueezeAll&) const = default;
  std::optional<View> view(const View& in) const { return in.squeeze_all(); }
};

struct Unsqueeze {
  int64_t axis;
  static constexpr std::string_view name = "unsqueeze";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Unsqueeze&) const = default;
  std::optional<View> view(const View& in) const { return in.unsqueeze(axis); }
};

struct Slice {
  int64_t axis;
  std::optional<int64_t> start;
  std::optional<int64_t> end;
  int64_t step;
  static constexpr std::string_view name = "slice";
  void attributes(auto visit) const {
    visit("axis", axis), visit("start", start), visit("end", end), visit("step", step);
  }
  bool operator==(const Slice&) const = default;
  std::optional<View> view(const View& in) const { return in.slice(axis, start, end, step); }
};

struct Select {
  int64_t axis;
  int64_t index;
  static constexpr std::string_view name = "select";
  void attributes(auto visit) const { visit("axis", axis), visit("index", index); }
  bool operator==(const Select&) const = default;
  std::optional<View> view(const View& in) const { return in.select(axis, index); }
};

struct Shrink {
  std::vector<Interval> bounds;
  static constexpr std::string_view name = "shrink";
  void attributes(auto visit) const { visit("bounds", bounds); }
  bool operator==(const Shrink&) const = default;
  std::optional<View> view(const View& in) const { return in.shrink(bounds); }
};

struct Flip {
  IntList axes;
  static constexpr std::string_view name = "flip";
  void attributes(auto visit) const { visit("axes", axes); }
  bool operator==(const Flip&) const = default;
  std::optional<View> view(const View& in) const { return in.flip(axes); }
};

struct Pad {
  std::vector<Padding> padding;
  static constexpr std::string_view name = "pad";
  void attributes(auto visit) const { visit("padding", padding); }
  bool operator==(const Pad&) const = default;
  std::optional<View> view(const View& in) const { return in.pad(padding); }
};

struct Unfold {
  int64_t axis;
  int64_t size;
  int64_t step;
  static constexpr std::string_view name = "unfold";
  void attributes(auto visit) const { visit("axis", axis), visit("size", size), visit("step", step); }
  bool operator==(const Unfold&) const = default;
  std::optional<View> view(const View& in) const { return in.unfold(axis, size, step); }
};

struct Diagonal {
  int64_t offset;
  int64_t axis0;
  int64_t axis1;
  static constexpr std::string_view name = "diagonal";
  void attributes(auto visit) const { visit("offset", offset), visit("axis0", axis0), visit("axis1", axis1); }
  bool operator==(const Diagonal&) const = default;
  std::optional<View> view(const View& in) const { return in.diagonal(offset, axis0, axis1); }
};

struct AsStrided {
  Shape shape;
  Strides strides;
  int64_t offset;
  static constexpr std::string_view name = "as_strided";
  void attributes(auto visit) const { visit("shape", shape), visit("strides", strides), visit("offset", offset); }
  bool operator==(const AsStrided&) const = default;
  std::optional<View> view(const View& in) const { return in.as_strided(shape, strides, offset); }
};

}  // namespace op
}  // namespace weft
