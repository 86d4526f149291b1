#include "tensor/functions/pixel_shuffle.h"

#include "tensor/dispatch/apply.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

void check_image(const Tensor& x, const char* name, int64_t factor) {
  if (x.rank() < 3) throw ShapeError(text("x must be (..., C, H, W), not ", x.shape()));
  if (factor < 1) throw Error(text(name, " ", factor, " must be 1 or more"));
}

/// The first axes of x, whose permutation changes nothing, and then `order` of the axes after them.
Tensor permute_last(const Tensor& x, const IntList& order) {
  IntList axes;
  const int64_t first = x.rank() - order.rank();
  for (int64_t i = 0; i < first; ++i) axes.push_back(i);
  for (int64_t axis : order) axes.push_back(first + axis);
  return permute(x, axes);
}

}  // namespace

Tensor pixel_shuffle(const Tensor& x, int64_t r) {
  ErrorFrame frame("pixel_shuffle", x);
  check_image(x, "upscale_factor", r);
  const int64_t square = checked_multiply(r, r), channels = x.size(-3);
  if (channels % square != 0) throw ShapeError(text(channels, " channels are no multiple of ", r, " x ", r));
  Shape shape = x.shape();
  const size_t c = shape.size() - 3;
  shape[c] = channels / square;
  shape[c + 1] = checked_multiply(x.size(-2), r);
  shape[c + 2] = checked_multiply(x.size(-1), r);
  const Tensor blocks = permute_last(unflatten(x, -3, {channels / square, r, r}), {0, 3, 1, 4, 2});
  return dispatch::unshared(reshape(blocks, shape), x);
}

Tensor pixel_unshuffle(const Tensor& x, int64_t r) {
  ErrorFrame frame("pixel_unshuffle", x);
  check_image(x, "downscale_factor", r);
  const int64_t height = x.size(-2), width = x.size(-1);
  if (height % r != 0 || width % r != 0)
    throw ShapeError(text("an image of ", height, " x ", width, " does not divide into pixels of ", r, " x ", r));
  Shape shape = x.shape();
  const size_t c = shape.size() - 3;
  shape[c] = checked_multiply(x.size(-3), checked_multiply(r, r));
  shape[c + 1] = height / r;
  shape[c + 2] = width / r;
  const Tensor blocks = unflatten(unflatten(x, -1, {width / r, r}), -3, {height / r, r});
  return dispatch::unshared(reshape(permute_last(blocks, {0, 2, 4, 1, 3}), shape), x);
}

Tensor channel_shuffle(const Tensor& x, int64_t groups) {
  ErrorFrame frame("channel_shuffle", x);
  if (x.rank() < 2) throw ShapeError(text("x must be (N, C, ...), not ", x.shape()));
  if (groups < 1) throw Error(text("groups ", groups, " must be 1 or more"));
  if (x.size(1) % groups != 0) throw ShapeError(text(x.size(1), " channels do not divide into ", groups, " groups"));
  const Tensor turned = transpose(unflatten(x, 1, {groups, x.size(1) / groups}), 1, 2);
  return dispatch::unshared(reshape(turned, x.shape()), x);
}

}  // namespace weft
