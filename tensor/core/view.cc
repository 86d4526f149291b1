// View: construction, its invariants, and what it answers about itself.
//
// Invariants that every View keeps, restored by update():
//   - at most kMaxAxes axes, none of them negative; the product of the non-zero sizes fits into 64 bits;
//   - zero elements: row-major strides, offset 0, no mask;
//   - a mask has one interval per axis within [0, size] and excludes something; where it excludes everything, all of
//     its intervals are [0, 0), so that dropping axes keeps that knowledge;
//   - the position of every index, padding included, and the distance of any two fit into 64 bits (check_span). An axis
//     of size 1 may have any stride, so no operation multiplies one before it matters.
#include "tensor/core/view.h"

#include <algorithm>

#include "tensor/core/error.h"

namespace weft {

View View::contiguous(const Shape& shape) {
  View out;
  out.shape_ = shape;
  out.numel_ = checked_numel(shape);
  out.check_rank();
  out.strides_ = row_major_strides(shape);
  return out;
}

View View::create(Shape shape, Strides strides, int64_t offset, std::optional<Mask> mask) {
  if (shape.size() != strides.size())
    throw ShapeError(text(strides.size(), " strides for the ", shape.size(), " axes of ", shape));
  View out;
  out.shape_ = std::move(shape);
  out.strides_ = std::move(strides);
  out.offset_ = offset;
  if (mask) {
    if (mask->size() != out.shape_.size())
      throw ShapeError(text(mask->size(), " mask intervals for the ", out.shape_.size(), " axes of ", out.shape_));
    for (size_t i = 0; i < mask->size(); ++i) {
      auto [begin, end] = (*mask)[i];
      if (begin < 0 || end < begin || end > out.shape_[i])
        throw ShapeError(text("mask [", begin, ", ", end, ") does not lie in axis ", i, " of size ", out.shape_[i]));
    }
    out.mask_ = Boxed(std::move(*mask));
  }
  out.update();
  out.check_span();
  return out;
}

void View::throw_rank() const {
  throw ShapeError(text(shape_, " has ", rank(), " axes, at most ", kMaxAxes, " are possible"));
}

void View::update() {
  check_rank();
  numel_ = checked_numel(shape_);
  update_order();
}

void View::update_order() {
  if (numel_ == 0) {
    strides_ = row_major_strides(shape_);
    offset_ = 0;
    mask_.reset();
  }
  if (mask_) tidy_mask();
  contiguous_ = !mask_;
  int64_t step = 1;
  for (size_t i = shape_.size(); i-- > 0 && contiguous_;) {
    if (shape_[i] == 1) continue;
    contiguous_ = strides_[i] == step || numel_ == 0;
    step *= shape_[i];
  }
}

void View::tidy_mask() {
  bool covers_all = true;
  bool nothing = false;
  for (size_t i = 0; i < shape_.size(); ++i) {
    Interval interval = (*mask_)[i];
    nothing |= interval.begin >= interval.end;
    covers_all &= interval == Interval{0, shape_[i]};
  }
  if (nothing)
    std::fill(mask_->begin(), mask_->end(), Interval{});
  else if (covers_all)
    mask_.reset();
}

void View::check_span() const {
  int64_t lowest = offset_;
  int64_t highest = offset_;
  if (numel_ == 0) return;
  for (size_t i = 0; i < shape_.size(); ++i) {
    if (shape_[i] == 1) continue;
    int64_t reach = checked_multiply(shape_[i] - 1, strides_[i]);
    (reach < 0 ? lowest : highest) = checked_add(reach < 0 ? lowest : highest, reach);
  }
  int64_t distance;
  if (__builtin_sub_overflow(highest, lowest, &distance))
    throw ShapeError(text("the distance of positions ", lowest, " and ", highest, " does not fit into 64 bits"));
}

std::optional<Strides> View::strides_opt() const {
  if (has_mask()) return std::nullopt;
  return strides_;
}

namespace {

/// An axis that moves through memory: how many elements, how far apart.
struct Run {
  int64_t size;
  int64_t stride;
};

/// The axes with more than one element that can be read, in order of falling |stride|.
struct Runs {
  Run list[kMaxAxes];
  int count = 0;

  void insert(Run run) {
    int at = count++;
    for (; at > 0 && list[at - 1].stride < run.stride; --at) list[at] = list[at - 1];
    list[at] = run;
  }
};

/// Whether some digits |d_k| < size_k, not all of them 0, have sum d_k * stride_k == 0. `reach[k]` is the most that
/// runs k and later can sum to. Answers true when `budget` runs out.
bool has_zero_sum(const Runs& runs, const int64_t* reach, int k, int64_t sum, bool moved, int& budget) {
  if (k == runs.count) return moved && sum == 0;
  if (--budget < 0) return true;
  auto [size, stride] = runs.list[k];
  // Only digits that the later runs can still bring back to 0. By symmetry the first that moves may go down only.
  int64_t least = std::max(1 - size, -((sum + reach[k + 1]) / stride));
  int64_t most = std::min(moved ? size - 1 : 0, (reach[k + 1] - sum) / stride);
  for (int64_t digit = most; digit >= least; --digit)
    if (has_zero_sum(runs, reach, k + 1, sum + digit * stride, moved || digit != 0, budget)) return true;
  return false;
}

}  // namespace

bool View::is_dense() const noexcept {
  if (contiguous_) return true;
  if (mask_) return false;
  Runs runs;
  for (size_t i = 0; i < shape_.size(); ++i)
    if (shape_[i] != 1) runs.insert({shape_[i], strides_[i]});
  int64_t step = 1;
  for (int k = runs.count; k-- > 0;) {
    if (runs.list[k].stride != step) return false;
    step *= runs.list[k].size;
  }
  return true;
}

bool View::overlaps_itself() const {
  if (contiguous_) return false;
  Runs runs;
  for (size_t i = 0; i < shape_.size(); ++i) {
    auto [begin, end] = valid(i);
    if (end == begin) return false;
    if (end - begin == 1) continue;
    if (strides_[i] == 0) return true;
    runs.insert({end - begin, strides_[i] < 0 ? -strides_[i] : strides_[i]});
  }
  int64_t reach[kMaxAxes + 1] = {};
  bool nested = true;  // every stride steps over all that the smaller ones reach
  for (int k = runs.count; k-- > 0;) {
    auto [size, stride] = runs.list[k];
    nested &= stride > reach[k + 1];
    reach[k] = reach[k + 1] + (size - 1) * stride;
  }
  if (nested) return false;
  if (reach[0] > INT64_MAX / 4) return true;  // the search below adds up to three of them
  int budget = 4096;
  return has_zero_sum(runs, reach, 0, 0, false, budget);
}

int64_t View::linear_index(const IntList& index) const {
  int64_t position = offset_;
  for (size_t i = 0; i < shape_.size() && i < index.size(); ++i) position += index[i] * strides_[i];
  return position;
}

int64_t View::linear_index_checked(const IntList& index) const {
  const bool valid = is_valid(index);  // throws where the rank differs
  for (size_t i = 0; i < shape_.size(); ++i)
    if (index[i] < 0 || index[i] >= shape_[i]) throw IndexError(text("index ", index, " is out of range for ", shape_));
  if (!valid) throw IndexError(text("index ", index, " lies in the padding of ", shape_));
  return linear_index(index);
}

bool View::is_valid(const IntList& index) const {
  if (index.size() != shape_.size())
    throw IndexError(text("index ", index, " has ", index.size(), " values for the ", rank(), " axes of ", shape_));
  if (!mask_) return true;
  for (size_t i = 0; i < shape_.size(); ++i)
    if (index[i] < (*mask_)[i].begin || index[i] >= (*mask_)[i].end) return false;
  return true;
}

std::pair<int64_t, int64_t> View::extent() const {
  if (numel_ == 0 || is_all_padding()) return {0, -1};
  int64_t lowest = offset_;
  int64_t highest = offset_;
  for (size_t i = 0; i < shape_.size(); ++i) {
    auto [begin, end] = valid(i);
    if (shape_[i] == 1) continue;
    int64_t first = begin * strides_[i];
    int64_t last = (end - 1) * strides_[i];
    lowest += std::min(first, last);
    highest += std::max(first, last);
  }
  return {lowest, highest};
}

std::string View::to_string() const {
  std::string out = text("View(", shape_, ", strides=", strides_, ", offset=", offset_);
  if (mask_) {
    const char* separator = ", mask=[";
    for (auto [begin, end] : *mask_) {
      out += text(separator, "[", begin, ", ", end, ")");
      separator = ", ";
    }
    out += ']';
  }
  return out += ')';
}

}  // namespace weft
