#include "tensor/functions/random.h"

#include "tensor/core/random.h"
#include "tensor/dispatch/apply.h"
#include "tensor/ops/random.h"

namespace weft {
namespace {

using op::Distribution;

Tensor draw(Distribution distribution, const Shape& shape, DType dtype, Device device, int64_t low = 0,
            int64_t high = 0) {
  const RandomKey key = next_random_key(checked_numel(shape));
  return dispatch::apply(op::RandomFill{distribution, shape, dtype, low, high, key.seed, key.offset, device});
}

}  // namespace

Tensor rand(const Shape& shape, DType dtype, Device device) {
  Frame frame("rand");
  return draw(Distribution::uniform, shape, dtype, device);
}

Tensor randn(const Shape& shape, DType dtype, Device device) {
  Frame frame("randn");
  return draw(Distribution::normal, shape, dtype, device);
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, DType dtype, Device device) {
  Frame frame("randint");
  if (low >= high) throw Error(text("there is no integer in [", low, ", ", high, ")"));
  return draw(Distribution::integers, shape, dtype, device, low, high);
}

Tensor randperm(int64_t count, Device device) {
  Frame frame("randperm");
  return draw(Distribution::permutation, {count}, i64, device);
}

Tensor rand_like(const Tensor& x) {
  Frame frame("rand_like", x);
  return draw(Distribution::uniform, x.shape(), x.dtype(), x.device());
}

Tensor randn_like(const Tensor& x) {
  Frame frame("randn_like", x);
  return draw(Distribution::normal, x.shape(), x.dtype(), x.device());
}

}  // namespace weft
