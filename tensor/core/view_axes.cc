// View operations that reorder, add, drop or repeat whole axes.
#include <algorithm>

#include "tensor/core/error.h"
#include "tensor/core/view.h"

namespace weft {

void View::erase_axis(size_t axis) {
  shape_.erase(axis);
  strides_.erase(axis);
  if (mask_) mask_->erase(mask_->begin() + static_cast<std::ptrdiff_t>(axis));
}

View View::expand(const Shape& shape) const {
  if (rank() != 0 && shape.rank() != rank())
    throw ShapeError(text("cannot expand ", shape_, " to ", shape, ": expand adds no axes, broadcast does"));
  return broadcast(shape);
}

View View::broadcast(const Shape& shape) const {
  if (shape.rank() < rank()) throw ShapeError(text(shape_, " does not broadcast to the fewer axes of ", shape));
  size_t lead = shape.size() - shape_.size();
  View out;
  out.shape_ = shape;
  out.strides_.resize(shape.size());
  out.offset_ = offset_;
  for (size_t i = lead; i < shape.size(); ++i) {
    int64_t size = shape_[i - lead];
    if (size != shape[i] && size != 1)
      throw ShapeError(text(shape_, " does not broadcast to ", shape, ": ", size, " and ", shape[i], " on axis ", i));
    if (size == shape[i]) out.strides_[i] = strides_[i - lead];
  }
  if (mask_) {
    out.mask_ = Boxed(Mask(shape.size()));
    for (size_t i = 0; i < shape.size(); ++i) {
      bool keeps_interval = i >= lead && (shape_[i - lead] == shape[i] || is_all_padding());
      (*out.mask_)[i] = keeps_interval ? (*mask_)[i - lead] : Interval{0, shape[i]};
    }
  }
  out.update();
  return out;
}

View View::permute(const IntList& axes) const {
  if (axes.rank() != rank()) throw ShapeError(text("permutation ", axes, " has ", axes.rank(), " axes for ", shape_));
  View out(*this);
  unsigned seen = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    auto from = static_cast<size_t>(normalize_axis(axes[i], rank()));
    if (seen & (1u << from)) throw ShapeError(text("permutation ", axes, " names axis ", from, " twice"));
    seen |= 1u << from;
    out.shape_[i] = shape_[from];
    out.strides_[i] = strides_[from];
    if (mask_) (*out.mask_)[i] = (*mask_)[from];
  }
  out.update_order();
  return out;
}

View View::transpose(int64_t axis0, int64_t axis1) const {
  auto a = static_cast<size_t>(normalize_axis(axis0, rank()));
  auto b = static_cast<size_t>(normalize_axis(axis1, rank()));
  View out(*this);
  std::swap(out.shape_[a], out.shape_[b]);
  std::swap(out.strides_[a], out.strides_[b]);
  if (mask_) std::swap((*out.mask_)[a], (*out.mask_)[b]);
  out.update_order();
  return out;
}

View View::movedim(int64_t source, int64_t destination) const {
  source = normalize_axis(source, rank());
  destination = normalize_axis(destination, rank());
  IntList axes;
  for (int64_t i = 0; i < rank(); ++i)
    if (i != source) axes.push_back(i);
  axes.insert(static_cast<size_t>(destination), source);
  return permute(axes);
}

std::optional<View> View::squeeze(int64_t axis) const {
  auto at = static_cast<size_t>(normalize_axis(axis, rank()));
  if (shape_[at] != 1) return *this;
  if (is_all_padding() && rank() == 1) return std::nullopt;
  View out(*this);
  out.erase_axis(at);
  out.update();
  return out;
}

std::optional<View> View::squeeze_all() const {
  View out(*this);
  for (size_t i = shape_.size(); i-- > 0;)
    if (shape_[i] == 1) out.erase_axis(i);
  if (is_all_padding() && out.rank() == 0) return std::nullopt;
  out.update();
  return out;
}

View View::unsqueeze(int64_t axis) const {
  auto at = static_cast<size_t>(normalize_axis(axis, rank() + 1));
  // The stride of an axis of size 1 is never used; this one reads as row-major.
  int64_t stride = 1;
  if (at < shape_.size() && __builtin_mul_overflow(shape_[at], strides_[at], &stride)) stride = 1;
  View out(*this);
  out.shape_.insert(at, 1);
  out.strides_.insert(at, stride);
  if (mask_) out.mask_->insert(out.mask_->begin() + static_cast<std::ptrdiff_t>(at), Interval{0, 1});
  out.update();
  return out;
}

View View::diagonal(int64_t offset, int64_t axis0, int64_t axis1) const {
  auto row = static_cast<size_t>(normalize_axis(axis0, rank()));
  auto column = static_cast<size_t>(normalize_axis(axis1, rank()));
  if (row == column) throw ShapeError(text("diagonal of axis ", row, " with itself"));
  int64_t length =
      offset >= 0 ? std::min(shape_[row], shape_[column] - offset) : std::min(shape_[row] + offset, shape_[column]);
  length = std::max<int64_t>(length, 0);
  // Element k of the diagonal is (k + down, k + right).
  int64_t down = length > 0 ? std::max<int64_t>(-offset, 0) : 0;
  int64_t right = length > 0 ? std::max<int64_t>(offset, 0) : 0;
  View out(*this);
  out.erase_axis(std::max(row, column));
  out.erase_axis(std::min(row, column));
  out.shape_.push_back(length);
  out.strides_.push_back(length > 1 ? strides_[row] + strides_[column] : 1);
  if (down > 0) out.offset_ += down * strides_[row];
  if (right > 0) out.offset_ += right * strides_[column];
  if (mask_) {
    int64_t begin = std::max({valid(row).begin - down, valid(column).begin - right, int64_t{0}});
    int64_t end = std::min({valid(row).end - down, valid(column).end - right, length});
    out.mask_->push_back({begin, std::max(begin, end)});
  }
  out.update();
  return out;
}

}  // namespace weft
