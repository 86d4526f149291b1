// View: the map from logical indices to memory positions. It has shape, strides, offset and an optional mask, and no
// data.
//
// All view operations of weft are arithmetic on this type. Some results cannot be expressed by strides and an interval
// mask; such functions return optional<View>, and for nullopt the caller first copies the tensor. Wrong arguments throw
// a short ShapeError or IndexError, to which the outermost frame adds the op's name and inputs.
//
// A mask holds one half-open interval per axis; an element outside of it reads as zero. Masks are created by `pad`.
// They are stored on the heap, so that a View without a mask stays small.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tensor/core/boxed.h"
#include "tensor/core/shape.h"

namespace weft {

/// The half-open interval [begin, end) of an axis.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const Interval&) const = default;
};

/// The number of elements added before and after an axis.
using Padding = std::pair<int64_t, int64_t>;

class View {
 public:
  using Mask = std::vector<Interval>;

  /// The view of a 0-d tensor at offset 0.
  View() = default;
  /// A row-major view at offset 0. ShapeError for more than 8 axes, negative sizes or overflow.
  static View contiguous(const Shape& shape);
  /// A view with the given parts. Checks that ranks agree and nothing overflows. A view without elements gets offset 0
  /// and no mask. A mask that covers the whole view is dropped.
  static View create(Shape shape, Strides strides, int64_t offset = 0, std::optional<Mask> mask = std::nullopt);

  const Shape& shape() const noexcept { return shape_; }
  const Strides& strides() const noexcept { return strides_; }
  int64_t offset() const noexcept { return offset_; }
  int64_t rank() const noexcept { return shape_.rank(); }
  /// The product of the sizes; 1 for rank 0.
  int64_t numel() const noexcept { return numel_; }
  /// The size, or the stride, of an axis. Negative axes count from the end. IndexError for an axis out of range.
  int64_t dim(int64_t axis) const { return shape_[static_cast<size_t>(normalize_axis(axis, rank()))]; }
  int64_t stride(int64_t axis) const { return strides_[static_cast<size_t>(normalize_axis(axis, rank()))]; }

  bool has_mask() const noexcept { return static_cast<bool>(mask_); }
  /// The mask (one interval per axis), or null if there is none.
  const Mask* mask() const noexcept { return mask_.get(); }
  /// Whether strides are row-major (ignoring axes of size 1) and there is no mask. The offset may have any value.
  bool is_contiguous() const noexcept { return contiguous_; }
  /// Whether there is no mask.
  bool is_strided() const noexcept { return !has_mask(); }
  /// The strides if `is_strided()`, else nullopt.
  std::optional<Strides> strides_opt() const;
  /// Whether the elements fill a memory range without gaps and without sharing memory, in any order of axes, with no
  /// negative stride and no mask.
  bool is_dense() const noexcept;
  /// Whether two indices refer to the same memory position (stride 0, overlapping windows). false is always correct.
  /// true may be wrong only for interleaved strides with very many combinations, which only as_strided can create.
  bool overlaps_itself() const;

  /// The memory position of an index (one value per axis). Checks neither bounds nor the mask.
  int64_t linear_index(std::initializer_list<int64_t> index) const { return linear_index(IntList(index)); }
  int64_t linear_index(const IntList& index) const;
  /// The same with checks: IndexError if the rank differs, or the index is out of bounds or in the padding.
  int64_t linear_index_checked(const IntList& index) const;
  /// Whether an index is inside the mask (true if there is no mask). IndexError if the rank differs.
  bool is_valid(std::initializer_list<int64_t> index) const { return is_valid(IntList(index)); }
  bool is_valid(const IntList& index) const;
  /// The smallest and the largest memory position of the elements inside the mask; {0, -1} if there are none.
  std::pair<int64_t, int64_t> extent() const;

  /// The same elements in row-major order with another shape (-1 is not accepted). nullopt if strides and mask cannot
  /// express it; ShapeError if the number of elements differs.
  std::optional<View> reshape(const Shape& shape) const;
  /// Expands axes of size 1 to the given sizes, with stride 0. The rank must be equal; a 0-d view expands to any rank.
  View expand(const Shape& shape) const;
  /// Adds axes on the left as needed, then expands.
  View broadcast(const Shape& shape) const;
  View permute(const IntList& axes) const;
  View transpose(int64_t axis0, int64_t axis1) const;
  View movedim(int64_t source, int64_t destination) const;
  /// Removes the axis if its size is 1. nullopt only if it is the last remaining axis and its element is padding.
  std::optional<View> squeeze(int64_t axis) const;
  std::optional<View> squeeze_all() const;
  /// Inserts an axis of size 1; axis is in [-(rank+1), rank].
  View unsqueeze(int64_t axis) const;
  /// Python's slice start:end:step. Negative bounds count from the end, bounds out of range are clamped, either may be
  /// absent. A negative step gives a reversed view; step 0 is an Error. The result may be empty.
  View slice(int64_t axis, std::optional<int64_t> start = std::nullopt, std::optional<int64_t> end = std::nullopt,
             int64_t step = 1) const;
  /// The slice at one index of the axis, without that axis. IndexError if the index is out of range. nullopt only if
  /// the result is a 0-d padding element, because a 0-d view has no axis to hold a mask. With axes left, an index in
  /// the padding gives a view that is all padding.
  std::optional<View> select(int64_t axis, int64_t index) const;
  /// Keeps [begin, end) of each axis; the result may be empty. ShapeError unless 0 <= begin <= end <= size.
  View shrink(const std::vector<Interval>& bounds) const;
  View flip(const IntList& axes) const;
  /// Adds zeros before and after each axis by a mask. ShapeError for negative amounts.
  View pad(const std::vector<Padding>& padding) const;
  /// Windows of `size` elements along `axis`, `step` apart. The axis then counts the windows, and a new last axis holds
  /// their elements. nullopt if the mask is not the same within every window.
  std::optional<View> unfold(int64_t axis, int64_t size, int64_t step) const;
  /// The diagonal of two axes as a new last axis; `offset` > 0 is above the main diagonal. The result may be empty.
  View diagonal(int64_t offset, int64_t axis0, int64_t axis1) const;
  /// Merges axes start..end (inclusive) into one.
  std::optional<View> flatten(int64_t start, int64_t end) const;
  /// Splits one axis into `sizes`, whose product must be its size (-1 is not accepted).
  std::optional<View> unflatten(int64_t axis, const Shape& sizes) const;
  /// A view with any shape and strides over the elements of this view. ShapeError unless this view is contiguous, and
  /// if the result would exceed its elements.
  View as_strided(const Shape& shape, const Strides& strides, int64_t offset) const;

  bool operator==(const View&) const = default;
  /// `View([2, 3], strides=[3, 1], offset=0)`
  std::string to_string() const;

 private:
  /// The interval of an axis that is not padding: that of the mask, or the whole axis.
  Interval valid(size_t axis) const noexcept { return mask_ ? (*mask_)[axis] : Interval{0, shape_[axis]}; }
  bool is_all_padding() const noexcept { return mask_ && mask_->front() == Interval{}; }
  void update();        // restores the invariants (view.cc) after shape_, strides_, offset_ or mask_ changed
  void update_order();  // the same after the axes were only permuted
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
