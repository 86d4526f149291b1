#include "tensor/functions/view.h"

#include "tensor/dispatch/apply.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"

namespace weft {
namespace {

/// `shape` with its one -1 inferred from the number of elements.
Shape inferred(const Shape& shape, int64_t numel) {
  int64_t known = 1;
  std::optional<size_t> open;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      if (open) throw ShapeError(text("only one size can be -1, got ", shape));
      open = i;
    } else {
      if (shape[i] < 0) throw ShapeError(text("size ", shape[i], " in ", shape, " is negative"));
      known = checked_multiply(known, shape[i]);
    }
  }
  Shape out = shape;
  if (open) {
    if (known == 0) throw ShapeError(text("-1 in ", shape, " is ambiguous beside a size of 0"));
    if (numel % known != 0) throw ShapeError(text(numel, " elements cannot be viewed as ", shape));
    out[*open] = numel / known;
  } else if (known != numel) {
    throw ShapeError(text(numel, " elements cannot be viewed as ", shape, " with ", known));
  }
  return out;
}

Shape merged(const Shape& shape, int64_t start, int64_t end) {
  Shape out;
  int64_t product = 1;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const int64_t size = shape[static_cast<size_t>(i)];
    if (i >= start && i <= end) {
      product *= size;
      if (i == end) out.push_back(product);
    } else {
      out.push_back(size);
    }
  }
  return out;
}

}  // namespace

Tensor view(const Tensor& x, const Shape& shape) {
  ErrorFrame frame("view", x);
  return dispatch::apply(op::Reshape{inferred(shape, x.numel())}, x);
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  ErrorFrame frame("reshape", x);
  op::Reshape op{inferred(shape, x.numel())};
  if (!x.is_contiguous() && !op.view(x.layout())) return dispatch::apply(op, dispatch::apply(op::Contiguous{}, x));
  return dispatch::apply(op, x);
}

Tensor squeeze(const Tensor& x, int64_t axis) {
  ErrorFrame frame("squeeze", x);
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  return x.rank() == 0 ? dispatch::apply(op::SqueezeAll{}, x) : dispatch::apply(op::Squeeze{a}, x);
}

Tensor squeeze(const Tensor& x, const IntList& axes) {
  ErrorFrame frame("squeeze", x);
  const IntList sorted = axes.empty() ? axes : Axes(axes).normalized(x.rank());
  if (sorted.empty()) return broadcast(x, x.shape());  // a view too, not x: requires_grad_() of it must not change x
  Tensor out = x;
  for (size_t i = sorted.size(); i-- > 0;) out = squeeze(out, sorted[i]);
  return out;
}

Tensor squeeze_all(const Tensor& x) {
  ErrorFrame frame("squeeze_all", x);
  return dispatch::apply(op::SqueezeAll{}, x);
}

Tensor unsqueeze(const Tensor& x, int64_t axis) {
  ErrorFrame frame("unsqueeze", x);
  return dispatch::apply(op::Unsqueeze{normalize_axis(axis, x.rank() + 1)}, x);
}

Tensor atleast_1d(const Tensor& x) { return x.rank() == 0 ? unsqueeze(x, 0) : x; }
Tensor atleast_2d(const Tensor& x) {
  ErrorFrame frame("atleast_2d", x);
  return x.rank() < 2 ? unsqueeze(atleast_1d(x), 0) : x;
}
Tensor atleast_3d(const Tensor& x) {
  ErrorFrame frame("atleast_3d", x);
  return x.rank() < 3 ? unsqueeze(atleast_2d(x), -1) : x;
}

Tensor permute(const Tensor& x, const IntList& axes) {
  ErrorFrame frame("permute", x);
  IntList normalized = axes;
  for (int64_t& axis : normalized) axis = normalize_axis(axis, x.rank());
  return dispatch::apply(op::Permute{normalized}, x);
}

Tensor transpose(const Tensor& x, int64_t axis0, int64_t axis1) {
  ErrorFrame frame("transpose", x);
  const int64_t rank = x.rank();
  const int64_t a = normalize_axis_or_scalar(axis0, rank), b = normalize_axis_or_scalar(axis1, rank);
  op::Permute op{IntList::filled(static_cast<size_t>(rank), 0)};
  for (int64_t i = 0; i < rank; ++i) op.axes[static_cast<size_t>(i)] = i == a ? b : i == b ? a : i;
  return dispatch::apply(op, x);
}

Tensor swapaxes(const Tensor& x, int64_t axis0, int64_t axis1) {
  ErrorFrame frame("swapaxes", x);
  return transpose(x, axis0, axis1);
}

Tensor movedim(const Tensor& x, int64_t source, int64_t destination) {
  ErrorFrame frame("movedim", x);
  const int64_t from = normalize_axis_or_scalar(source, x.rank());
  const int64_t to = normalize_axis_or_scalar(destination, x.rank());
  op::Permute op;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != from) op.axes.push_back(i);
  if (x.rank() > 0) op.axes.insert(static_cast<size_t>(to), from);
  return dispatch::apply(op, x);
}

Tensor movedim(const Tensor& x, const IntList& sources, const IntList& destinations) {
  ErrorFrame frame("movedim", x);
  if (sources.size() != destinations.size())
    throw ShapeError(text(sources.size(), " sources for ", destinations.size(), " destinations"));
  const int64_t rank = x.rank();
  if (rank == 0) {
    for (const IntList* axes : {&sources, &destinations}) (void)Axes(*axes).normalized(0);
    return broadcast(x, x.shape());
  }
  IntList order = IntList::filled(static_cast<size_t>(rank), -1);
  std::vector<bool> moved(static_cast<size_t>(rank));
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto from = static_cast<size_t>(normalize_axis(sources[i], rank));
    const auto to = static_cast<size_t>(normalize_axis(destinations[i], rank));
    if (moved[from] || order[to] >= 0)
      throw IndexError(text("an axis is named twice in ", sources, " to ", destinations));
    moved[from] = true;
    order[to] = static_cast<int64_t>(from);
  }
  size_t next = 0;
  for (int64_t& axis : order) {
    if (axis >= 0) continue;
    while (moved[next]) ++next;
    axis = static_cast<int64_t>(next++);
  }
  return permute(x, order);
}

Tensor slice(const Tensor& x, int64_t axis, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  ErrorFrame frame("slice", x);
  return dispatch::apply(op::Slice{normalize_axis(axis, x.rank()), start, end, step}, x);
}

Tensor select(const Tensor& x, int64_t axis, int64_t index) {
  ErrorFrame frame("select", x);
  return dispatch::apply(op::Select{normalize_axis(axis, x.rank()), index}, x);
}

Tensor shrink(const Tensor& x, const std::vector<Interval>& bounds) {
  ErrorFrame frame("shrink", x);
  return dispatch::apply(op::Shrink{bounds}, x);
}

Tensor narrow(const Tensor& x, int64_t axis, int64_t start, int64_t length) {
  ErrorFrame frame("narrow", x);
  const int64_t a = normalize_axis(axis, x.rank());
  const int64_t size = x.size(a), first = start < 0 && start >= -size ? start + size : start;
  if (first < 0 || length < 0 || first > size || length > size - first)
    throw IndexError(text("start ", start, " and length ", length, " leave axis ", a, " of size ", size));
  return dispatch::apply(op::Slice{a, first, first + length, 1}, x);
}

Tensor unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step) {
  ErrorFrame frame("unfold", x);
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  if (x.rank() > 0) return dispatch::apply(op::Unfold{a, size, step}, x);
  // As PyTorch: the window of a tensor without axes, not a list of windows.
  return select(dispatch::apply(op::Unfold{0, size, step}, reshape(x, {1})), 0, 0);
}

Tensor flip(const Tensor& x, const IntList& axes) {
  ErrorFrame frame("flip", x);
  IntList normalized = axes;
  for (int64_t& axis : normalized) axis = normalize_axis_or_scalar(axis, x.rank());
  return dispatch::apply(op::Flip{x.rank() > 0 ? normalized : IntList()}, x);
}

Tensor fliplr(const Tensor& x) {
  ErrorFrame frame("fliplr", x);
  if (x.rank() < 2) throw ShapeError(text("2 axes or more are needed, not shape ", x.shape()));
  return flip(x, {1});
}

Tensor flipud(const Tensor& x) {
  ErrorFrame frame("flipud", x);
  if (x.rank() < 1) throw ShapeError("1 axis or more is needed, not shape []");
  return flip(x, {0});
}

Tensor pad(const Tensor& x, const std::vector<Padding>& padding) {
  ErrorFrame frame("pad", x);
  return dispatch::apply(op::Pad{padding}, x);
}

Tensor expand(const Tensor& x, const Shape& shape) {
  ErrorFrame frame("expand", x);
  Shape full = shape;
  const int64_t added = shape.rank() - x.rank();
  for (int64_t i = 0; i < shape.rank(); ++i) {
    int64_t& size = full[static_cast<size_t>(i)];
    if (size != -1) continue;
    if (i < added) throw ShapeError(text("-1 at axis ", i, " of ", shape, " is a new axis and has no size to keep"));
    size = x.shape()[static_cast<size_t>(i - added)];
  }
  return dispatch::apply(op::Expand{full}, x);
}

Tensor broadcast(const Tensor& x, const Shape& shape) {
  ErrorFrame frame("broadcast", x);
  return dispatch::apply(op::Expand{shape}, x);
}

Tensor broadcast_like(const Tensor& x, const Tensor& other) {
  ErrorFrame frame("broadcast_like", x, other);
  return dispatch::apply(op::Expand{other.shape()}, x);
}

Tensor broadcast_left(const Tensor& x, const Shape& batch_dims) {
  ErrorFrame frame("broadcast_left", x);
  Shape shape = batch_dims;
  for (int64_t size : x.shape()) shape.push_back(size);
  return dispatch::apply(op::Expand{shape}, x);
}

Tensor diagonal(const Tensor& x, int64_t offset, int64_t axis0, int64_t axis1) {
  ErrorFrame frame("diagonal", x);
  return dispatch::apply(op::Diagonal{offset, normalize_axis(axis0, x.rank()), normalize_axis(axis1, x.rank())}, x);
}

Tensor flatten(const Tensor& x, int64_t start, int64_t end) {
  ErrorFrame frame("flatten", x);
  const int64_t first = normalize_axis_or_scalar(start, x.rank());
  const int64_t last = normalize_axis_or_scalar(end, x.rank());
  if (first > last) throw IndexError(text("start axis ", first, " lies behind end axis ", last));
  if (x.rank() == 0) return dispatch::apply(op::Reshape{{1}}, x);
  return reshape(x, merged(x.shape(), first, last));
}

Tensor ravel(const Tensor& x) {
  ErrorFrame frame("ravel", x);
  return flatten(x);
}

std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors) {
  ErrorFrame frame("broadcast_tensors", std::span<const Tensor>(tensors));
  Shape shape;
  for (const Tensor& x : tensors) shape = broadcast_shapes(shape, x.shape());
  std::vector<Tensor> out;
  for (const Tensor& x : tensors) out.push_back(broadcast(x, shape));
  return out;
}

Tensor unflatten(const Tensor& x, int64_t axis, const Shape& sizes) {
  ErrorFrame frame("unflatten", x);
  const int64_t a = normalize_axis(axis, x.rank());
  Shape shape;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i == a)
      for (int64_t size : inferred(sizes, x.size(a))) shape.push_back(size);
    else
      shape.push_back(x.size(i));
  }
  return dispatch::apply(op::Reshape{shape}, x);
}

Tensor as_strided(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset) {
  ErrorFrame frame("as_strided", x);
  return dispatch::apply(op::AsStrided{shape, strides, offset}, x);
}

}  // namespace weft
