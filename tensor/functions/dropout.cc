#include "tensor/functions/dropout.h"

#include <cmath>
#include <utility>

#include "tensor/adjoints/dropout.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/ops/dropout.h"

namespace weft {

namespace {
constinit thread_local internal::SampleScope* samples = nullptr;

/// Ones with the first `axes` sizes of x, and size 1 behind them.
Tensor ones_of(const Tensor& x, int64_t axes) {
  Shape shape = x.shape();
  for (int64_t i = axes; i < x.rank(); ++i) shape[static_cast<size_t>(i)] = 1;
  return ones(shape, x.dtype(), x.device());
}

/// Alpha dropout: one decision for all elements that share the first `axes` indices.
Tensor alpha_dropped(const Tensor& x, int64_t axes, double p, Generator& generator) {
  check_probability("p =", p);
  if (p == 0) return x;
  if (p == 1) return x * 0.0;
  const Tensor kept = dropout(ones_of(x, axes), p, generator) * (1 - p);  // 1 or 0
  constexpr double kAlpha = 1.7580993408473766;                           // 1.0507 1.6733, the constants of SELU
  const double scale = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  return x * (kept * scale) + ((kept - 1.0) * (kAlpha * scale) + kAlpha * scale * p);
}
}  // namespace

internal::SampleScope::SampleScope(uint64_t seed, uint64_t first, int64_t count)
    : seed_(seed), first_(first), count_(count), outer_(std::exchange(samples, this)) {}

internal::SampleScope::~SampleScope() { samples = outer_; }

RandomKey internal::SampleScope::next(int64_t count) {
  const auto inner = static_cast<uint64_t>(count / count_), draw = draws_++;
  // A stream for each draw and length: samples are adjacent in it. Streams have 0 in the last word of the counter,
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
  check_probability("p =", p);
  return training ? dropout(x, p) : x;
}

Tensor dropout(const Tensor& x, double p, Generator& generator) {
  ErrorFrame frame("dropout", x);
  check_probability("p =", p);
  const RandomKey key = internal::dropout_key(x.device(), x.numel(), generator);
  return dispatch::apply(op::Dropout{p, key.seed, key.offset}, x);
}

Tensor internal::channel_dropout(const Tensor& x, int64_t places, double p, Generator& generator) {
  check_probability("p =", p);
  if (x.rank() != places + 1 && x.rank() != places + 2)
    throw ShapeError(text("the input must have ", places + 2, " axes, (N, C, ...), or ", places + 1, " without N"));
  return p == 0 ? x : x * dropout(ones_of(x, x.rank() - places), p, generator);
}

Tensor dropout1d(const Tensor& x, double p, Generator& generator) {
  ErrorFrame frame("dropout1d", x);
  return internal::channel_dropout(x, 1, p, generator);
}
Tensor dropout2d(const Tensor& x, double p, Generator& generator) {
  ErrorFrame frame("dropout2d", x);
  return internal::channel_dropout(x, 2, p, generator);
}
Tensor dropout3d(const Tensor& x, double p, Generator& generator) {
  ErrorFrame frame("dropout3d", x);
  return internal::channel_dropout(x, 3, p, generator);
}

Tensor alpha_dropout(const Tensor& x, double p, Generator& generator) {
  ErrorFrame frame("alpha_dropout", x);
  return alpha_dropped(x, x.rank(), p, generator);
}
Tensor feature_alpha_dropout(const Tensor& x, double p, Generator& generator) {
  ErrorFrame frame("feature_alpha_dropout", x);
  if (x.rank() < 2) throw ShapeError("the input must be (N, C, ...)");
  return alpha_dropped(x, 2, p, generator);
}

}  // namespace weft
