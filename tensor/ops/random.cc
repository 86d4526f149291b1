#include "tensor/ops/random.h"

#include "tensor/core/random.h"
#include "tensor/kernels/cpu/pointwise/random.h"
#include "tensor/op.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace {

Tensor draw(Distribution distribution, const Shape& shape, DType dtype, int64_t low = 0, int64_t high = 0) {
  const RandomKey key = next_random_key(checked_numel(shape));
  return apply(op::RandomFill{distribution, shape, dtype, low, high, key.seed, key.offset});
}

}  // namespace

Tensor rand(const Shape& shape, DType dtype) {
  Frame frame("rand");
  return draw(Distribution::uniform, shape, dtype);
}

Tensor randn(const Shape& shape, DType dtype) {
  Frame frame("randn");
  return draw(Distribution::normal, shape, dtype);
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, DType dtype) {
  Frame frame("randint");
  if (low >= high) throw Error(text("there is no integer in [", low, ", ", high, ")"));
  return draw(Distribution::integers, shape, dtype, low, high);
}

Tensor randperm(int64_t count) {
  Frame frame("randperm");
  return draw(Distribution::permutation, {count}, i64);
}

Tensor rand_like(const Tensor& x) {
  Frame frame("rand_like", x);
  return draw(Distribution::uniform, x.shape(), x.dtype());
}

Tensor randn_like(const Tensor& x) {
  Frame frame("randn_like", x);
  return draw(Distribution::normal, x.shape(), x.dtype());
}

std::string attribute_text(const Distribution& value) {
  constexpr const char* names[] = {"uniform", "normal", "integers", "permutation"};
  return names[static_cast<int>(value)];
}

namespace op {

Spec RandomFill::infer() const {
  const bool floating = distribution == Distribution::uniform || distribution == Distribution::normal;
  if (floating && !is_floating(dtype)) throw DtypeError(text(dtype, " is not accepted here; it takes floating dtypes"));
  return spec_of(shape, dtype);
}

void RandomFill::run(Tensor& out) const {
  const RandomKey key{seed, offset};
  switch (distribution) {
    case Distribution::uniform: return cpu::uniform(key, operand(out));
    case Distribution::normal: return cpu::normal(key, operand(out));
    case Distribution::integers: return cpu::randint(key, low, high, operand(out));
    case Distribution::permutation: return cpu::randperm(key, operand(out));
  }
}

}  // namespace op
}  // namespace weft
