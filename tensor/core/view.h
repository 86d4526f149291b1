// View: how logical indices map to memory. A value that knows no data: shape, strides, offset and an optional mask.
//
// All view operations of weft are arithmetic on this type. A function that can fail to be expressed by strides (or by
// an interval mask) answers optional<View>; the caller then materialises the tensor first. Wrong arguments throw a
// terse ShapeError or IndexError, which the outermost frame completes with the op's name and inputs.
//
// A mask holds one half-open interval per axis: an index outside of it reads as zero. It comes from `pad` and lives out
// of line, so that the common view stays small.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tensor/core/boxed.h"
#include "tensor/core/shape.h"

namespace weft {

/// Half-open interval of an axis.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const Interval&) const = default;
};

/// Amounts of padding before and after an axis.
using Padding = std::pair<int64_t, int64_t>;

class View {
 public:
  using Mask = std::vector<Interval>;

  /// A scalar at offset 0.
  View() = default;
  /// Row-major, offset 0. Throws ShapeError for more than 8 axes, negative sizes or overflow.
  static View contiguous(const Shape& shape);
  /// Checked: ranks agree, no overflow. A zero-size view has offset 0 and no mask; a mask that covers all is dropped.
  static View create(Shape shape, Strides strides, int64_t offset = 0, std::optional<Mask> mask = std::nullopt);

  const Shape& shape() const noexcept { return shape_; }
  const Strides& strides() const noexcept { return strides_; }
  int64_t offset() const noexcept { return offset_; }
  int64_t rank() const noexcept { return shape_.rank(); }
  /// The product of the sizes; 1 for a scalar.
  int64_t numel() const noexcept { return numel_; }
  /// Size or stride of an axis; negative axes count from the end; IndexError out of range.
  int64_t dim(int64_t axis) const { return shape_[static_cast<size_t>(normalize_axis(axis, rank()))]; }
  int64_t stride(int64_t axis) const { return strides_[static_cast<size_t>(normalize_axis(axis, rank()))]; }

  bool has_mask() const noexcept { return static_cast<bool>(mask_); }
  /// One interval per axis where there is a mask, else null.
  const Mask* mask() const noexcept { return mask_.get(); }
  /// Row-major strides (axes of size 1 do not count) and no mask; the offset does not matter.
  bool is_contiguous() const noexcept { return contiguous_; }
  /// True where strides alone describe the view: no mask.
  bool is_strided() const noexcept { return !has_mask(); }
  /// The strides where `is_strided()`, else nothing.
  std::optional<Strides> strides_opt() const;
  /// Every element occupies memory of its own and there are no gaps (any order, no negative stride), and no mask.
  bool is_dense() const noexcept;
  /// Two logical indices share memory (stride 0, overlapping windows). Exact, except that where very many combinations
  /// of interleaved strides would have to be tried (only as_strided makes them) it may say true; it never wrongly says
  /// false.
  bool overlaps_itself() const;

  /// Memory position of an index (one value per axis). Unchecked: neither bounds nor mask.
  int64_t linear_index(std::initializer_list<int64_t> index) const { return linear_index(IntList(index)); }
  int64_t linear_index(const IntList& index) const;
  /// The same, or IndexError where the rank differs, an index is out of bounds or lies in the padding.
  int64_t linear_index_checked(const IntList& index) const;
  /// Whether an index lies inside the mask (true without one). IndexError where the rank differs.
  bool is_valid(std::initializer_list<int64_t> index) const { return is_valid(IntList(index)); }
  bool is_valid(const IntList& index) const;
  /// The smallest and largest memory position that is touched (inside the mask); {0, -1} where nothing is.
  std::pair<int64_t, int64_t> extent() const;

  /// The same elements in the same row-major order under another shape (no -1). nullopt where strides or mask cannot
  /// express it; ShapeError where the number of elements differs.
  std::optional<View> reshape(const Shape& shape) const;
  /// Axes of size 1 to the given sizes, with stride 0; the rank must be equal, except that a scalar expands to any
  /// rank.
  View expand(const Shape& shape) const;
  /// expand after new axes on the left.
  View broadcast(const Shape& shape) const;
  View permute(const IntList& axes) const;
  View transpose(int64_t axis0, int64_t axis1) const;
  View movedim(int64_t source, int64_t destination) const;
  /// Removes the axis where its size is 1, else unchanged. nullopt only where the last axis goes and is padding.
  std::optional<View> squeeze(int64_t axis) const;
  std::optional<View> squeeze_all() const;
  /// A new axis of size 1; axis in [-(rank+1), rank].
  View unsqueeze(int64_t axis) const;
  /// Python's slice: start and end are clamped, count from the end where negative, open where absent; step != 0.
  /// May be empty; a negative step gives a reversed view.
  View slice(int64_t axis, std::optional<int64_t> start = std::nullopt, std::optional<int64_t> end = std::nullopt,
             int64_t step = 1) const;
  /// Drops the axis at one index. IndexError out of range. nullopt only for a scalar out of the padding: a scalar has
  /// no axis whose interval could say so (with axes left, a view that is all padding).
  std::optional<View> select(int64_t axis, int64_t index) const;
  /// Keeps [begin, end) per axis; may be empty. ShapeError outside of 0 <= begin <= end <= size.
  View shrink(const std::vector<Interval>& bounds) const;
  View flip(const IntList& axes) const;
  /// Virtual zeros before and after each axis. Negative amounts are a ShapeError.
  View pad(const std::vector<Padding>& padding) const;
  /// Windows of `size` along `axis`, `step` apart: the axis becomes the windows, their content a new last axis.
  /// nullopt where a mask shows different parts of itself to the windows.
  std::optional<View> unfold(int64_t axis, int64_t size, int64_t step) const;
  /// The diagonal of two axes as a new last axis; `offset` > 0 lies above it. May be empty.
  View diagonal(int64_t offset, int64_t axis0, int64_t axis1) const;
  /// Merges axes start..end (inclusive) into one.
  std::optional<View> flatten(int64_t start, int64_t end) const;
  /// Splits one axis; the sizes' product must be its size (no -1).
  std::optional<View> unflatten(int64_t axis, const Shape& sizes) const;
  /// Any strides over the elements of a contiguous view (ShapeError otherwise, or where it would leave them).
  View as_strided(const Shape& shape, const Strides& strides, int64_t offset) const;

  bool operator==(const View&) const = default;
  /// `View([2, 3], strides=[3, 1], offset=0)`
  std::string to_string() const;

 private:
  /// What can be read along an axis: its interval of the mask, or all of it.
  Interval valid(size_t axis) const noexcept { return mask_ ? (*mask_)[axis] : Interval{0, shape_[axis]}; }
  bool is_all_padding() const noexcept { return mask_ && mask_->front() == Interval{}; }
  void update();        // restores the invariants (view.cc) after shape_, strides_, offset_ or mask_ changed
  void update_order();  // the same where the axes were only put into another order
  void tidy_mask();
  void check_rank() const {
    if (shape_.size() > kMaxAxes) [[unlikely]]
      throw_rank();
  }
  [[noreturn]] void throw_rank() const;
  void check_span() const;
  void erase_axis(size_t axis);
  std::optional<View> reshape_masked(const Shape& shape) const;

  Boxed<Mask> mask_;  // the first that is copied: what throws comes before anything changes
  Shape shape_;
  Strides strides_;
  int64_t offset_ = 0;
  int64_t numel_ = 1;
  bool contiguous_ = true;
};

}  // namespace weft
