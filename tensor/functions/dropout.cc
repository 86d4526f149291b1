#include "tensor/functions/dropout.h"

#include <utility>

#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/ops/dropout.h"

namespace weft {

namespace {
constinit thread_local internal::SampleScope* samples = nullptr;

void check_probability(double p) {
  if (!(p >= 0.0 && p <= 1.0)) throw Error(text("p = ", p, " must lie between 0 and 1"));
}
}  // namespace

internal::SampleScope::SampleScope(uint64_t seed, uint64_t first, int64_t count)
    : seed_(seed), first_(first), count_(count), outer_(std::exchange(samples, this)) {}

internal::SampleScope::~SampleScope() { samples = outer_; }

RandomKey internal::SampleScope::next(int64_t count) {
  const auto inner = static_cast<uint64_t>(count / count_), draw = draws_++;
  // A stream for each draw and length: samples lie side by side in it. Streams have 0 in the last word of the counter,
  // and generators that are split off 1 and 2: these numbers are in none of them.
  const std::array<uint32_t, 4> counter = {static_cast<uint32_t>(draw), static_cast<uint32_t>(inner),
                                           static_cast<uint32_t>(inner >> 32), 3};
  const auto bits = philox(counter, {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
  return {uint64_t{bits[1]} << 32 | bits[0], op::Dropout::offset_at(first_ * inner)};
}

RandomKey internal::dropout_key(Device device, int64_t count, Generator& generator) {
  if (samples == nullptr || &generator != &default_generator() || device.kind == DeviceKind::vmap ||
      !samples->divides(count))
    return dispatch::key_on(device, count, generator);
  // Through a generator that stands there, so that a checkpoint notes the key, and repeats it without this scope.
  return Generator(samples->next(count)).next_key(0);
}

Tensor dropout(const Tensor& x, double p) { return dropout(x, p, default_generator()); }

Tensor dropout(const Tensor& x, double p, bool training) {
  ErrorFrame frame("dropout", x);
  check_probability(p);
  return training ? dropout(x, p) : x;
}

Tensor dropout(const Tensor& x, double p, Generator& generator) {
  ErrorFrame frame("dropout", x);
  check_probability(p);
  const RandomKey key = internal::dropout_key(x.device(), x.numel(), generator);
  return dispatch::apply(op::Dropout{p, key.seed, key.offset}, x);
}

}  // namespace weft
