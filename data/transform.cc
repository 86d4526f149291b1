#include "data/transform.h"

#include <cmath>
#include <numbers>

#include "tensor/core/error.h"
#include "tensor/core/shape.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/grid_sample.h"
#include "tensor/functions/interpolate.h"

namespace weft::data {

namespace {

/// Element `i` of a stream as an integer of [0, count).
int64_t draw(RandomKey key, uint64_t i, int64_t count) {
  return static_cast<int64_t>(uint64_t{random_bits(key, i)} * static_cast<uint64_t>(count) >> 32);
}

}  // namespace

Transform compose(std::vector<Transform> transforms) {
  bool random = false;
  for (const Transform& transform : transforms) random |= transform.is_random();
  const auto all = [transforms = std::move(transforms)](const Tensor& x, RandomKey key) {
    Tensor out = x;
    for (size_t i = 0; i < transforms.size(); ++i) out = transforms[i](out, split_key(key, i));
    return out;
  };
  return Transform(all, random);
}

namespace {

/// The numbers as a tensor that broadcasts with x (channels, ...).
Tensor along_channels(const PerChannel& numbers, const Tensor& x) {
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : f32;
  if (numbers.values.size() == 1) return tensor(numbers.values[0], dtype);
  const auto channels = static_cast<int64_t>(numbers.values.size());
  if (x.rank() == 0 || x.size(0) != channels)
    throw ShapeError(text("there are numbers for ", channels, " channels, the image is ", x.shape()));
  Shape shape = IntList::filled(static_cast<size_t>(x.rank()), 1);
  shape[0] = channels;
  return from_vector(numbers.values, shape, dtype);
}

/// The sizes of an image (..., height, width).
std::pair<int64_t, int64_t> sizes_of(const Tensor& x) {
  if (x.rank() < 2) throw ShapeError(text("an image has height and width, this is ", x.shape()));
  return {x.size(-2), x.size(-1)};
}
void check_size(int64_t height, int64_t width) {
  if (height < 1 || width < 1) throw Error(text("height and width must be 1 or more, not ", height, " and ", width));
}
/// Where the middle `part` of `whole` begins: halves go to the even place, as in torchvision.
int64_t middle(int64_t whole, int64_t part) {
  const int64_t rest = whole - part;
  return rest / 2 + (rest % 4 == 3 ? 1 : 0);
}
Tensor with_border(const Tensor& x, int64_t border) {
  std::vector<Padding> padding(static_cast<size_t>(x.rank()), Padding{0, 0});
  padding[padding.size() - 2] = padding[padding.size() - 1] = {border, border};
  return x.pad(padding);
}

}  // namespace

Tensor Normalize::operator()(const Tensor& x) const {
  ErrorFrame frame("Normalize", x);
  for (const double value : deviation.values)
    if (!(value > 0)) throw Error(text("deviation must be positive, not ", value));
  return (x - along_channels(mean, x)) / along_channels(deviation, x);
}

Tensor RandomShift::operator()(const Tensor& x, RandomKey key) const {
  ErrorFrame frame("RandomShift", x);
  if (most < 0) throw Error(text("most must be 0 or more, not ", most));
  const auto [height, width] = sizes_of(x);
  return RandomCrop{height, width, most}(x, key);
}

Tensor RandomFlip::operator()(const Tensor& x, RandomKey key) const {
  ErrorFrame frame("RandomFlip", x);
  if (!(p >= 0 && p <= 1)) throw Error(text("p must be in [0, 1], not ", p));
  return to_uniform(random_bits(key, 0)) < p ? x.flip({axis}).contiguous() : x;
}

Tensor CenterCrop::operator()(const Tensor& x) const {
  ErrorFrame frame("CenterCrop", x);
  check_size(height, width);
  const auto [h, w] = sizes_of(x);
  if (height > h || width > w)
    throw ShapeError(text("an image of ", h, " x ", w, " has no part of ", height, " x ", width));
  return x.narrow(-2, middle(h, height), height).narrow(-1, middle(w, width), width).contiguous();
}

Tensor RandomCrop::operator()(const Tensor& x, RandomKey key) const {
  ErrorFrame frame("RandomCrop", x);
  check_size(height, width);
  if (padding < 0) throw Error(text("padding must be 0 or more, not ", padding));
  const auto [h, w] = sizes_of(x);
  const int64_t border = checked_multiply(2, padding);
  const int64_t rows = checked_add(h, border) - height + 1, columns = checked_add(w, border) - width + 1;
  if (rows < 1 || columns < 1)
    throw ShapeError(text("an image of ", h, " x ", w, " has no part of ", height, " x ", width));
  return with_border(x, padding)
      .narrow(-2, draw(key, 0, rows), height)
      .narrow(-1, draw(key, 1, columns), width)
      .contiguous();
}

namespace {

Tensor floating(const Tensor& x) { return is_floating(x.dtype()) ? x : x.to(f32); }

/// An image (..., h, w) as one (1, channels, h, w).
Tensor as_batch(const Tensor& x) {
  const int64_t h = x.size(-2), w = x.size(-1);
  return x.reshape({1, x.numel() / (h * w), h, w});
}

}  // namespace

Tensor Resize::operator()(const Tensor& x) const {
  ErrorFrame frame("Resize", x);
  check_size(height, width);
  const auto [h, w] = sizes_of(x);
  if (h == 0 || w == 0) throw ShapeError(text("there is nothing to enlarge in ", x.shape()));
  Shape shape = x.shape();
  shape[shape.size() - 2] = height, shape[shape.size() - 1] = width;
  const InterpolateOptions options = {.size = {height, width}, .mode = Interpolation::bilinear};
  return interpolate(as_batch(floating(x)), options).reshape(shape).contiguous();
}

Tensor RandomRotation::operator()(const Tensor& x, RandomKey key) const {
  ErrorFrame frame("RandomRotation", x);
  if (!(degrees >= 0 && degrees <= 360)) throw Error(text("degrees must be in [0, 360], not ", degrees));
  const auto [h, w] = sizes_of(x);
  if (x.numel() == 0) return floating(x);
  const double angle = (2 * to_uniform(random_bits(key, 0)) - 1) * degrees * std::numbers::pi / 180;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  // Where each pixel comes from, in units of half of the image's sides.
  const double ratio = static_cast<double>(h) / static_cast<double>(w);
  const std::vector<double> theta = {cosine, -sine * ratio, 0, sine / ratio, cosine, 0};
  // 16 bits would not tell pixels apart.
  const DType dtype = x.dtype() == f64 ? f64 : f32;
  const Tensor grid = affine_grid(from_vector(theta, Shape{1, 2, 3}, dtype), {1, 1, h, w}, false);
  const Tensor turned = grid_sample(as_batch(x.to(dtype)), grid).reshape(x.shape());
  return turned.to(is_floating(x.dtype()) ? x.dtype() : f32).contiguous();
}

}  // namespace weft::data
