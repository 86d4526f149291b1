#include "tensor/functions/fold.h"

#include "tensor/adjoints/spatial.h"
#include "tensor/dispatch/apply.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"
#include "tensor/ops/window.h"

namespace weft {
namespace {

/// The elements that a window spans.
int64_t span_of(const FoldOptions& o, int64_t axis) {
  return checked_add(checked_multiply(o.dilation[axis], o.kernel_size[axis] - 1), 1);
}

/// The number of windows along both axes of an image (height, width); all checks of options.
Size2 windows_of(const Size2& image, const FoldOptions& o) {
  int64_t counts[2];
  for (int64_t i = 0; i < 2; ++i) {
    check_window(o.kernel_size[i], o.stride[i], o.dilation[i]);
    if (o.padding[i] < 0) throw Error(text("padding ", o.padding[i], " must be 0 or more"));
    counts[i] = conv_output_size(image[i], o.kernel_size[i], o.stride[i], o.padding[i], o.dilation[i]);
    if (counts[i] < 1) throw_window_too_large(o.kernel_size[i], o.dilation[i], image[i], o.padding[i]);
  }
  return {counts[0], counts[1]};
}

Tensor adjoint_of(const AnyOp& view, const Shape& shape, const Tensor& g) {
  return dispatch::apply(op::ViewAdjoint{view, shape}, g);
}

/// The adjoint of windows along `axis`, every `dilation`-th of their elements: g has them in its axis `content`, the
/// last one but for the columns' own.
Tensor fold_axis(const Tensor& g, int64_t axis, int64_t content, int64_t size, const FoldOptions& o, int64_t side) {
  Shape shape = g.shape();
  Tensor windows = g;
  if (o.dilation[side] > 1) {
    shape[static_cast<size_t>(content)] = span_of(o, side);
    windows = adjoint_of(AnyOp(op::Slice{content, std::nullopt, std::nullopt, o.dilation[side]}), shape, windows);
  }
  shape.erase(static_cast<size_t>(content));
  shape[static_cast<size_t>(axis)] = size;
  return adjoint_of(AnyOp(op::Unfold{axis, span_of(o, side), o.stride[side]}), shape, windows);
}

}  // namespace

Tensor im2col(const Tensor& x, const FoldOptions& o) {
  ErrorFrame frame("im2col", x);
  check_spatial(x.shape(), 2);
  const Size2 count = windows_of({x.size(-2), x.size(-1)}, o);
  return adjoint::for_batch(x, 2, [&](const Tensor& images) {
    const Padding height{o.padding.height, o.padding.height}, width{o.padding.width, o.padding.width};
    const Tensor padded = o.padding == Size2(0) ? images : pad(images, {{0, 0}, {0, 0}, height, width});
    Tensor windows = unfold(unfold(padded, 2, span_of(o, 0), o.stride.height), 3, span_of(o, 1), o.stride.width);
    // A slice of everything would copy all windows in backward.
    for (const int64_t side : {0, 1})
      if (o.dilation[side] > 1) windows = slice(windows, 4 + side, {}, {}, o.dilation[side]);
    const int64_t taps = o.kernel_size.height * o.kernel_size.width;
    const Shape columns = {images.size(0), checked_multiply(images.size(1), taps), count.height * count.width};
    return dispatch::unshared(reshape(permute(windows, {0, 1, 4, 5, 2, 3}), columns), x);
  });
}

Tensor fold(const Tensor& columns, const Size2& size, const FoldOptions& o) {
  ErrorFrame frame("fold", columns);
  if (columns.rank() != 2 && columns.rank() != 3)
    throw ShapeError(text("columns must be (N, C kh kw, windows) or (C kh kw, windows), not ", columns.shape()));
  const Size2 count = windows_of(size, o);
  const int64_t taps = checked_multiply(o.kernel_size.height, o.kernel_size.width);
  if (columns.size(-2) % taps != 0)
    throw ShapeError(text(columns.size(-2), " rows are no multiple of the ", taps, " elements of a window"));
  if (columns.size(-1) != checked_multiply(count.height, count.width))
    throw ShapeError(text("an image of ", size.height, " x ", size.width, " has ", count.height, " x ", count.width,
                          " windows, not ", columns.size(-1)));
  return adjoint::for_batch(columns, 1, [&](const Tensor& batch) {
    const int64_t height = checked_add(size.height, 2 * o.padding.height),
                  width = checked_add(size.width, 2 * o.padding.width);
    const Tensor windows = permute(view(batch.contiguous(), {batch.size(0), batch.size(1) / taps, o.kernel_size.height,
                                                             o.kernel_size.width, count.height, count.width}),
                                   {0, 1, 4, 5, 2, 3});
    const Tensor lines = fold_axis(windows, 3, 5, width, o, 1);  // (N, C, windows, width, kh)
    const Tensor images = fold_axis(lines, 2, 4, height, o, 0);  // (N, C, height, width)
    return narrow(narrow(images, 2, o.padding.height, size.height), 3, o.padding.width, size.width);
  });
}

}  // namespace weft
