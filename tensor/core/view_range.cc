// View operations that move, cut, pad or window the range of axes.
#include <algorithm>

#include "tensor/core/error.h"
#include "tensor/core/integer_division.h"
#include "tensor/core/view.h"

namespace weft {

namespace {

/// `interval` cut to [0, size).
Interval clamp(Interval interval, int64_t size) {
  int64_t begin = std::clamp<int64_t>(interval.begin, 0, size);
  return {begin, std::clamp<int64_t>(interval.end, begin, size)};
}

/// The indices i in [0, count) for which start + i * step lies in `interval`: an interval again.
Interval through_progression(Interval interval, int64_t start, int64_t step, int64_t count) {
  if (step > 0)
    return clamp({internal::divide_up(interval.begin - start, step), internal::divide_up(interval.end - start, step)},
                 count);
  int64_t down = -step;
  return clamp(
      {internal::divide_down(start - interval.end, down) + 1, internal::divide_down(start - interval.begin, down) + 1},
      count);
}

/// A bound of Python's slice: absent gives `open`, negative counts from the end, then cut to [least, most].
int64_t slice_bound(std::optional<int64_t> bound, int64_t open, int64_t size, int64_t least, int64_t most) {
  if (!bound) return open;
  return std::clamp(*bound < 0 ? *bound + size : *bound, least, most);
}

}  // namespace

View View::slice(int64_t axis, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const {
  auto at = static_cast<size_t>(normalize_axis(axis, rank()));
  if (step == 0) throw ShapeError("step must not be 0");
  step = std::max(step, -INT64_MAX);
  int64_t size = shape_[at];
  int64_t first, last, count;  // from first towards last, which is not included
  if (step > 0) {
    first = slice_bound(start, 0, size, 0, size);
    last = slice_bound(end, size, size, 0, size);
    count = first < last ? (last - first - 1) / step + 1 : 0;
  } else {
    first = slice_bound(start, size - 1, size, -1, size - 1);
    last = slice_bound(end, -1, size, -1, size - 1);
    count = first > last ? (first - last - 1) / -step + 1 : 0;
  }
  View out(*this);
  out.shape_[at] = count;
  if (count > 0) out.offset_ += first * strides_[at];
  if (count > 1) out.strides_[at] *= step;
  if (mask_) (*out.mask_)[at] = through_progression((*mask_)[at], first, step, count);
  out.update();
  return out;
}

std::optional<View> View::select(int64_t axis, int64_t index) const {
  auto at = static_cast<size_t>(normalize_axis(axis, rank()));
  int64_t size = shape_[at];
  if (index < -size || index >= size)
    throw IndexError(text("index ", index, " is out of range for axis ", at, " of size ", size));
  if (index < 0) index += size;
  bool padding = index < valid(at).begin || index >= valid(at).end;
  if (padding && rank() == 1) return std::nullopt;
  View out(*this);
  out.erase_axis(at);
  if (index > 0) out.offset_ += index * strides_[at];
  if (padding) out.mask_->front() = {};
  out.update();
  return out;
}

View View::shrink(const std::vector<Interval>& bounds) const {
  if (bounds.size() != shape_.size()) throw ShapeError(text(bounds.size(), " bounds for the axes of ", shape_));
  View out(*this);
  for (size_t i = 0; i < bounds.size(); ++i) {
    auto [begin, end] = bounds[i];
    if (begin < 0 || end < begin || end > shape_[i])
      throw ShapeError(text("bounds [", begin, ", ", end, ") do not lie in axis ", i, " of size ", shape_[i]));
    out.shape_[i] = end - begin;
    if (begin > 0 && begin < end) out.offset_ += begin * strides_[i];
    if (mask_) (*out.mask_)[i] = clamp({valid(i).begin - begin, valid(i).end - begin}, end - begin);
  }
  out.update();
  return out;
}

View View::flip(const IntList& axes) const {
  View out(*this);
  unsigned seen = 0;
  for (int64_t axis : axes) {
    auto at = static_cast<size_t>(normalize_axis(axis, rank()));
    if (seen & (1u << at)) throw ShapeError(text("flip names axis ", at, " twice"));
    seen |= 1u << at;
    if (shape_[at] <= 1) continue;
    out.offset_ += (shape_[at] - 1) * strides_[at];
    out.strides_[at] = -strides_[at];
    if (mask_) (*out.mask_)[at] = {shape_[at] - valid(at).end, shape_[at] - valid(at).begin};
  }
  out.update();
  return out;
}

View View::pad(const std::vector<Padding>& padding) const {
  if (padding.size() != shape_.size())
    throw ShapeError(text(padding.size(), " amounts of padding for the axes of ", shape_));
  View out(*this);
  Mask mask(padding.size());
  for (size_t i = 0; i < padding.size(); ++i) {
    auto [before, after] = padding[i];
    if (before < 0 || after < 0)
      throw ShapeError(text("negative padding (", before, ", ", after, ") of axis ", i,
                            "; slice() crops, and so does pad(x, widths, PadMode::constant)"));
    out.shape_[i] = checked_add(checked_add(shape_[i], before), after);
    if (before > 0 && numel_ > 0) {
      int64_t moved = checked_multiply(before, strides_[i]);
      if (__builtin_sub_overflow(out.offset_, moved, &out.offset_))
        throw ShapeError(text("padding axis ", i, " by ", before, " leaves 64 bits"));
    }
    mask[i] = {valid(i).begin + before, valid(i).end + before};
  }
  out.mask_ = Boxed(std::move(mask));
  out.update();
  out.check_span();
  return out;
}

std::optional<View> View::unfold(int64_t axis, int64_t size, int64_t step) const {
  auto at = static_cast<size_t>(normalize_axis(axis, rank()));
  if (step <= 0) throw ShapeError(text("step must be positive, not ", step));
  if (size < 0 || size > shape_[at])
    throw ShapeError(text("windows of size ", size, " do not fit into axis ", at, " of size ", shape_[at]));
  int64_t windows = (shape_[at] - size) / step + 1;
  View out(*this);
  out.shape_[at] = windows;
  out.shape_.push_back(size);
  if (windows > 1) out.strides_[at] *= step;
  out.strides_.push_back(strides_[at]);
  if (mask_) {
    // Index j of window w is w * step + j. The windows that see the valid interval are an interval; what they see of it
    // only moves down with w, so it is the same for all where the first and the last agree.
    Interval all = valid(at);
    Interval seeing =
        clamp({internal::divide_down(all.begin - size, step) + 1, internal::divide_up(all.end, step)}, windows);
    auto seen_by = [&](int64_t w) { return clamp({all.begin - w * step, all.end - w * step}, size); };
    Interval seen;
    if (seeing.begin < seeing.end) seen = seen_by(seeing.begin);
    if (seeing.begin < seeing.end && seen != seen_by(seeing.end - 1)) return std::nullopt;
    (*out.mask_)[at] = seeing;
    out.mask_->push_back(seen);
  }
  out.update();
  return out;
}

View View::as_strided(const Shape& shape, const Strides& strides, int64_t offset) const {
  if (!contiguous_) throw ShapeError(text("as_strided needs a contiguous view, not ", to_string()));
  if (offset < 0) throw ShapeError(text("negative offset ", offset));
  View out = create(shape, strides, offset);
  auto [lowest, highest] = out.extent();
  if (lowest < 0 || highest >= numel_)
    throw ShapeError(text("elements ", lowest, " to ", highest, " are not all among the ", numel_, " of ", shape_));
  if (out.numel_ > 0) out.offset_ += offset_;
  return out;
}

}  // namespace weft
