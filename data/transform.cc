#include "data/transform.h"

#include <algorithm>
#include <cmath>

#include "tensor/core/error.h"
#include "tensor/core/shape.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/view.h"

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
    throw ShapeError(text("Normalize: there are numbers for ", channels, " channels, the image is ", x.shape()));
  Shape shape = Shape(static_cast<size_t>(x.rank()), 1);
  shape[0] = channels;
  return from_vector(numbers.values, shape, dtype);
}

/// The sizes of an image (..., height, width).
std::pair<int64_t, int64_t> sizes_of(const char* name, const Tensor& x) {
  if (x.rank() < 2) throw ShapeError(text(name, ": an image has height and width, this is ", x.shape()));
  return {x.size(-2), x.size(-1)};
}
void check_size(const char* name, int64_t height, int64_t width) {
  if (height < 1 || width < 1)
    throw Error(text(name, ": height and width must be 1 or more, not ", height, " and ", width));
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
  for (const double value : deviation.values)
    if (!(value > 0)) throw Error(text("Normalize: deviation must be positive, not ", value));
  return (x - along_channels(mean, x)) / along_channels(deviation, x);
}

Tensor RandomShift::operator()(const Tensor& x, RandomKey key) const {
  if (most < 0) throw Error(text("RandomShift: most must be 0 or more, not ", most));
  const auto [height, width] = sizes_of("RandomShift", x);
  return RandomCrop{height, width, most}(x, key);
}

Tensor RandomFlip::operator()(const Tensor& x, RandomKey key) const {
  if (!(p >= 0 && p <= 1)) throw Error(text("RandomFlip: p must be in [0, 1], not ", p));
  return to_uniform(random_bits(key, 0)) < p ? x.flip({axis}).contiguous() : x;
}

Tensor CenterCrop::operator()(const Tensor& x) const {
  check_size("CenterCrop", height, width);
  const auto [h, w] = sizes_of("CenterCrop", x);
  if (height > h || width > w)
    throw ShapeError(text("CenterCrop: an image of ", h, " x ", w, " has no part of ", height, " x ", width));
  return x.narrow(-2, middle(h, height), height).narrow(-1, middle(w, width), width).contiguous();
}

Tensor RandomCrop::operator()(const Tensor& x, RandomKey key) const {
  check_size("RandomCrop", height, width);
  if (padding < 0) throw Error(text("RandomCrop: padding must be 0 or more, not ", padding));
  const auto [h, w] = sizes_of("RandomCrop", x);
  const int64_t border = checked_multiply(2, padding);
  const int64_t rows = checked_add(h, border) - height + 1, columns = checked_add(w, border) - width + 1;
  if (rows < 1 || columns < 1)
    throw ShapeError(text("RandomCrop: an image of ", h, " x ", w, " has no part of ", height, " x ", width));
  return with_border(x, padding)
      .narrow(-2, draw(key, 0, rows), height)
      .narrow(-1, draw(key, 1, columns), width)
      .contiguous();
}

namespace {

/// Axis `axis` in another size.
Tensor resized(const Tensor& x, int64_t axis, int64_t size) {
  const int64_t old = x.size(axis);
  if (old == size) return x;
  std::vector<int64_t> low, high;
  std::vector<double> weight;
  for (int64_t i = 0; i < size; ++i) {
    const double scale = static_cast<double>(old) / static_cast<double>(size);
    const double place = std::max(0.0, (static_cast<double>(i) + 0.5) * scale - 0.5);
    low.push_back(std::min(static_cast<int64_t>(place), old - 1));
    high.push_back(std::min(low.back() + 1, old - 1));
    weight.push_back(place - static_cast<double>(low.back()));
  }
  Shape along = {size};
  if (axis != -1) along.push_back(1);
  const Tensor part = from_vector(weight, along, x.dtype());
  const Tensor a = index_select(x, axis, from_vector(low)), b = index_select(x, axis, from_vector(high));
  return a + (b - a) * part;
}
Tensor floating(const Tensor& x) { return is_floating(x.dtype()) ? x : x.to(f32); }

}  // namespace

Tensor Resize::operator()(const Tensor& x) const {
  check_size("Resize", height, width);
  const auto [h, w] = sizes_of("Resize", x);
  if (h == 0 || w == 0) throw ShapeError(text("Resize: there is nothing to enlarge in ", x.shape()));
  return resized(resized(floating(x), -2, height), -1, width).contiguous();
}

Tensor RandomRotation::operator()(const Tensor& x, RandomKey key) const {
  if (!(degrees >= 0 && degrees <= 360))
    throw Error(text("RandomRotation: degrees must be in [0, 360], not ", degrees));
  const auto [h, w] = sizes_of("RandomRotation", x);
  const double angle = (2 * to_uniform(random_bits(key, 0)) - 1) * degrees * 3.14159265358979323846 / 180;
  // Where each pixel comes from: four neighbours, in an image with a border of zeros.
  std::vector<int64_t> places[4];
  std::vector<double> weights[4];
  const double middle_y = static_cast<double>(h - 1) / 2, middle_x = static_cast<double>(w - 1) / 2;
  for (int64_t i = 0; i < h; ++i)
    for (int64_t j = 0; j < w; ++j) {
      const double dy = static_cast<double>(i) - middle_y, dx = static_cast<double>(j) - middle_x;
      const double y = std::cos(angle) * dy + std::sin(angle) * dx + middle_y;
      const double from_x = std::cos(angle) * dx - std::sin(angle) * dy + middle_x;
      const double top = std::floor(y), left = std::floor(from_x);
      for (int k = 0; k < 4; ++k) {
        const double row = top + k / 2, column = left + k % 2;
        const double weight = (1 - std::fabs(y - row)) * (1 - std::fabs(from_x - column));
        const double last_row = static_cast<double>(h), last_column = static_cast<double>(w);
        const bool inside = row >= -1 && row <= last_row && column >= -1 && column <= last_column;
        places[k].push_back(inside ? static_cast<int64_t>(row + 1) * (w + 2) + static_cast<int64_t>(column + 1) : 0);
        weights[k].push_back(weight);
      }
    }
  const Tensor pixels = with_border(floating(x), 1).flatten(-2, -1);
  Tensor out;
  for (int k = 0; k < 4; ++k) {
    const Tensor part =
        index_select(pixels, -1, from_vector(places[k])) * from_vector(weights[k], std::nullopt, pixels.dtype());
    out = k == 0 ? part : out + part;
  }
  return out.reshape(x.shape());
}

}  // namespace weft::data
