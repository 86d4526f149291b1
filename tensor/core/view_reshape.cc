// View operations that regroup axes: reshape, flatten, unflatten.
#include "tensor/core/error.h"
#include "tensor/core/view.h"

namespace weft {

namespace {

/// a * b modulo 2^64: for strides of axes of size 1, which are never used, and comparisons that a wrap cannot satisfy.
int64_t wrapping_multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// The strides under which `to` visits the elements of (`from`, `strides`) in row-major order; false where there are
/// none. Both shapes have the same number of elements, not 0; `from` has axes.
///
/// From the right, old axes are merged into chunks whose elements have one common distance; the new axes must then
/// split each chunk on its own. This finds strides wherever they exist: a new axis across the border of two chunks
/// would need two different distances (the algorithm of PyTorch's computeStride).
bool restride(const Shape& from, const Strides& strides, const Shape& to, Strides& out) {
  out.resize(to.size());
  auto next = to.rank() - 1;
  int64_t distance = strides.back();
  int64_t chunk = 1;
  for (auto i = from.size(); i-- > 0;) {
    chunk *= from[i];
    bool goes_on = i > 0 && (from[i - 1] == 1 || strides[i - 1] == wrapping_multiply(chunk, distance));
    if (goes_on) continue;
    int64_t split = 1;
    for (; next >= 0 && (split < chunk || to[static_cast<size_t>(next)] == 1); --next) {
      out[static_cast<size_t>(next)] = wrapping_multiply(split, distance);
      split *= to[static_cast<size_t>(next)];
    }
    if (split != chunk) return false;
    if (i > 0) distance = strides[i - 1];
    chunk = 1;
  }
  return next < 0;
}

}  // namespace

std::optional<View> View::reshape(const Shape& shape) const {
  if (checked_numel(shape) != numel_)
    throw ShapeError(
        text("cannot reshape ", shape_, " to ", shape, ": ", numel_, " and ", checked_numel(shape), " elements"));
  if (mask_) return reshape_masked(shape);
  std::optional<View> out(std::in_place);
  out->shape_ = shape;
  out->check_rank();
  out->offset_ = offset_;
  out->numel_ = numel_;
  if (contiguous_) {
    out->strides_ = row_major_strides(shape);
  } else {
    if (!restride(shape_, strides_, shape, out->strides_)) return std::nullopt;
    out->update();
  }
  return out;
}

std::optional<View> View::reshape_masked(const Shape& shape) const {
  if (is_all_padding()) {
    if (shape.empty()) return std::nullopt;
    View out = contiguous(shape);
    out.mask_ = Boxed(Mask(shape.size()));
    out.update();
    return out;
  }
  // What is valid is a box of the old shape, and must be a box of the new one. Along row-major order the box runs from
  // `first` to `last`, which fixes the corners of the new box; it holds the same elements where restride, applied to
  // their places in row-major order, finds the new shape's own.
  Strides order = row_major_strides(shape_);
  Shape box;
  int64_t first = 0, last = 0;
  int64_t position = offset_;
  for (size_t i = 0; i < shape_.size(); ++i) {
    auto [begin, end] = valid(i);
    box.push_back(end - begin);
    first += begin * order[i];
    last += (end - 1) * order[i];
    if (begin > 0) position += begin * strides_[i];
  }
  View out = contiguous(shape);
  Strides new_order = out.strides_;
  Shape new_box;
  out.mask_ = Boxed(Mask(shape.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    Interval& interval = (*out.mask_)[i];
    interval = {first / new_order[i], last / new_order[i] + 1};
    first %= new_order[i];
    last %= new_order[i];
    if (interval.begin >= interval.end) return std::nullopt;
    new_box.push_back(interval.end - interval.begin);
  }
  Strides order_found;
  if (!restride(box, order, new_box, order_found)) return std::nullopt;
  if (!restride(box, strides_, new_box, out.strides_)) return std::nullopt;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (new_box[i] > 1 && order_found[i] != new_order[i]) return std::nullopt;
    if (new_box[i] == 1) out.strides_[i] = 0;  // one valid index: never stepped
    position -= (*out.mask_)[i].begin * out.strides_[i];
  }
  out.offset_ = position;
  out.update();
  out.check_span();
  return out;
}

std::optional<View> View::flatten(int64_t start, int64_t end) const {
  if (rank() == 0) {
    normalize_axis(start, 1);
    normalize_axis(end, 1);
    return reshape({1});
  }
  start = normalize_axis(start, rank());
  end = normalize_axis(end, rank());
  if (start > end) throw ShapeError(text("flatten from axis ", start, " to ", end, ", which lies before it"));
  Shape shape;
  for (int64_t i = 0; i < rank(); ++i) {
    int64_t size = shape_[static_cast<size_t>(i)];
    if (i > start && i <= end)
      shape[shape.size() - 1] *= size;
    else
      shape.push_back(size);
  }
  return reshape(shape);
}

std::optional<View> View::unflatten(int64_t axis, const Shape& sizes) const {
  auto at = static_cast<size_t>(normalize_axis(axis, rank()));
  if (checked_numel(sizes) != shape_[at])
    throw ShapeError(text("sizes ", sizes, " do not make up axis ", at, " of size ", shape_[at]));
  Shape shape(shape_.begin(), shape_.begin() + at);
  for (int64_t size : sizes) shape.push_back(size);
  for (size_t i = at + 1; i < shape_.size(); ++i) shape.push_back(shape_[i]);
  return reshape(shape);
}

}  // namespace weft
