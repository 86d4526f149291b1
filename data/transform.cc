#include "data/transform.h"

#include "tensor/core/error.h"
#include "tensor/functions/binary.h"
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

Tensor Normalize::operator()(const Tensor& x) const {
  if (!(deviation > 0)) throw Error(text("Normalize: deviation must be positive, not ", deviation));
  return (x - mean) / deviation;
}

Tensor RandomShift::operator()(const Tensor& x, RandomKey key) const {
  if (most < 0) throw Error(text("RandomShift: most must be 0 or more, not ", most));
  if (x.rank() < 2) throw ShapeError(text("RandomShift: an image has height and width, this is ", x.shape()));
  const int64_t count = 2 * most + 1;
  std::vector<Padding> padding(static_cast<size_t>(x.rank()), Padding{0, 0});
  padding[padding.size() - 2] = padding[padding.size() - 1] = {most, most};
  return x.pad(padding)
      .narrow(-2, draw(key, 0, count), x.size(-2))
      .narrow(-1, draw(key, 1, count), x.size(-1))
      .contiguous();
}

Tensor RandomFlip::operator()(const Tensor& x, RandomKey key) const {
  if (!(p >= 0 && p <= 1)) throw Error(text("RandomFlip: p must be in [0, 1], not ", p));
  return to_uniform(random_bits(key, 0)) < p ? x.flip({-1}).contiguous() : x;
}

}  // namespace weft::data
