#include "tensor/functions/random.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "tensor/dispatch/apply_into.h"
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/random.h"

namespace weft {
namespace {

using op::Distribution;

Tensor draw(Generator& generator, Distribution distribution, const Shape& shape, DType dtype, Device device,
            int64_t low = 0, int64_t high = 0) {
  const int64_t count = checked_numel(shape);
  const bool whole = distribution == Distribution::permutation;  // no part of one is a permutation
  const RandomKey key = whole ? generator.next_key(count) : dispatch::key_on(device, count, generator);
  return dispatch::apply(op::RandomFill{distribution, shape, dtype, low, high, key.seed, key.offset, device});
}

/// Draws into the memory of `x` if nothing records the write and no observer needs separate ops, else into new memory;
/// returns where the numbers are.
Tensor drawn_into(Tensor& x, Generator& generator, Distribution distribution, int64_t low = 0, int64_t high = 0) {
  const bool sample = x.device().kind == DeviceKind::vmap;
  if (internal::needs_separate_ops() || sample || dispatch::check_writable(x, "copy_", false))
    return draw(generator, distribution, x.shape(), x.dtype(), x.device(), low, high);
  const RandomKey key = generator.next_key(x.numel());
  const internal::ModeScope not_recording(&internal::Modes::recording, false);
  const op::RandomFill fill{distribution, x.shape(), x.dtype(), low, high, key.seed, key.offset, x.device()};
  const Tensor numbers = dispatch::apply_into(fill, x);
  dispatch::note_write(internal::body(x), "copy_");
  return numbers;
}

/// Writes `numbers` to `x` if they are not there already. Errors name copy_ either way, not a step on the way there.
Tensor& written(Tensor& x, const Tensor& numbers) {
  if (!numbers.is_same(x)) return x.copy_(numbers);
  dispatch::note_write(internal::body(x), "copy_");
  return x;
}

void check_deviation(double std) {
  if (!(std >= 0)) throw Error(text("the standard deviation ", std, " must be 0 or more"));
}

/// Error for a negative one or NaN.
void check_deviations(const Tensor& std) {
  const Tensor every = dispatch::all_samples(std.detach());
  if (every.numel() > 0) check_deviation(min(every).item<double>());
}

/// Uniform numbers like `x`, of f32 where x has 16 bits: steps of 2^-8 are too large to compare a probability with, or
/// to take a logarithm of.
Tensor fine_uniform(const Tensor& x, Generator& generator) {
  return rand(x.shape(), generator, is_half_precision(x.dtype()) ? f32 : x.dtype(), x.device());
}

void check_bounds(int64_t low, int64_t high) {
  if (low >= high) throw Error(text("there is no integer in [", low, ", ", high, ")"));
}

/// One more than the largest integer up to which the dtype holds all; of i64, where that is no i64, the largest.
int64_t integers_of(DType dtype) {
  if (!is_floating(dtype))
    return visit_dtype(dtype, []<class T>() -> int64_t {
      if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(int64_t))
        return int64_t{std::numeric_limits<T>::max()} + 1;
      else
        return INT64_MAX;
    });
  const int digits = dtype == f64 ? 53 : dtype == f32 ? 24 : dtype == f16 ? 11 : 8;
  return (int64_t{1} << digits) + 1;
}

double largest(DType dtype) {
  if (dtype == f64) return std::numeric_limits<double>::max();
  if (dtype == f16) return 65504;
  return dtype == bf16 ? 0x1.fep127 : double{std::numeric_limits<float>::max()};
}

}  // namespace

Tensor rand(const Shape& shape, DType dtype, Device device) { return rand(shape, default_generator(), dtype, device); }
Tensor rand(const Shape& shape, Generator& generator, DType dtype, Device device) {
  ErrorFrame frame("rand");
  return draw(generator, Distribution::uniform, shape, dtype, device);
}

Tensor randn(const Shape& shape, DType dtype, Device device) {
  return randn(shape, default_generator(), dtype, device);
}
Tensor randn(const Shape& shape, Generator& generator, DType dtype, Device device) {
  ErrorFrame frame("randn");
  return draw(generator, Distribution::normal, shape, dtype, device);
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, DType dtype, Device device) {
  return randint(low, high, shape, default_generator(), dtype, device);
}
Tensor randint(int64_t low, int64_t high, const Shape& shape, Generator& generator, DType dtype, Device device) {
  ErrorFrame frame("randint");
  check_bounds(low, high);
  return draw(generator, Distribution::integers, shape, dtype, device, low, high);
}
Tensor randint(int64_t high, const Shape& shape, DType dtype, Device device) {
  return randint(0, high, shape, dtype, device);
}

Tensor randperm(int64_t count, Device device) { return randperm(count, default_generator(), device); }
Tensor randperm(int64_t count, Generator& generator, Device device) {
  ErrorFrame frame("randperm");
  return draw(generator, Distribution::permutation, {count}, i64, device);
}

Tensor rand_like(const Tensor& x, Generator& generator) {
  ErrorFrame frame("rand_like", x);
  return draw(generator, Distribution::uniform, x.shape(), x.dtype(), x.device());
}

Tensor randn_like(const Tensor& x, Generator& generator) {
  ErrorFrame frame("randn_like", x);
  return draw(generator, Distribution::normal, x.shape(), x.dtype(), x.device());
}

Tensor randint_like(const Tensor& x, int64_t low, int64_t high, Generator& generator) {
  ErrorFrame frame("randint_like", x);
  return randint(low, high, x.shape(), generator, x.dtype(), x.device());
}
Tensor randint_like(const Tensor& x, int64_t high) { return randint_like(x, 0, high); }

Tensor normal(double mean, double std, const Shape& shape, DType dtype, Device device) {
  return normal(mean, std, shape, default_generator(), dtype, device);
}
Tensor normal(double mean, double std, const Shape& shape, Generator& generator, DType dtype, Device device) {
  ErrorFrame frame("normal");
  check_deviation(std);
  return randn(shape, generator, dtype, device) * std + mean;
}
Tensor normal(const Tensor& mean, const Tensor& std, Generator& generator) {
  ErrorFrame frame("normal", mean, std);
  check_deviations(std);
  const Shape shape = broadcast_shapes(mean.shape(), std.shape());
  const std::array inputs = {mean, std};
  return randn(shape, generator, dispatch::promoted(inputs), dispatch::deepest_device(inputs)) * std + mean;
}

Tensor normal(const Tensor& mean, double std, Generator& generator) {
  ErrorFrame frame("normal", mean);
  check_deviation(std);
  return randn_like(mean, generator) * std + mean;
}
Tensor normal(double mean, const Tensor& std, Generator& generator) {
  ErrorFrame frame("normal", std);
  check_deviations(std);
  return randn_like(std, generator) * std + mean;
}

Tensor bernoulli(const Tensor& p, Generator& generator) {
  ErrorFrame frame("bernoulli", p);
  const Tensor u = fine_uniform(p, generator);
  const Tensor inside = logical_and(p >= 0, p <= 1);
  if (!all(dispatch::all_samples(inside)).item<bool>()) {
    // The error names the lowest or the highest one; if there is a NaN, both are NaN.
    const Tensor every = dispatch::all_samples(p);
    const double low = min(every).item<double>(), high = max(every).item<double>();
    check_probability("the probability", low >= 0 ? high : low);
  }
  return cast(u < p, p.dtype());
}

Tensor multinomial(const Tensor& weights, int64_t count, bool replacement, Generator& generator) {
  ErrorFrame frame("multinomial", weights);
  if (count == 1) replacement = true;  // the same distribution, for one number instead of one per category
  const int64_t rows = weights.rank() == 2 ? weights.size(0) : 1;
  const int64_t drawn = replacement ? checked_multiply(rows, count < 0 ? 0 : count) : weights.numel();
  const RandomKey key = dispatch::key_on(weights.device(), drawn, generator);
  return dispatch::apply(op::Multinomial{count, replacement, key.seed, key.offset}, weights);
}

Tensor poisson(const Tensor& rates, Generator& generator) {
  ErrorFrame frame("poisson", rates);
  const int64_t drawn = checked_multiply(2, rates.numel());  // a block for each element
  const RandomKey key = dispatch::key_on(rates.device(), drawn, generator);
  return dispatch::apply(op::Poisson{key.seed, key.offset}, rates);
}

Tensor& Tensor::uniform_(double low, double high, Generator& generator) {
  ErrorFrame frame("uniform_", *this);
  if (!(low <= high)) throw Error(text("low ", low, " is above high ", high));
  if (const double most = largest(dtype()); is_floating(dtype()) && !(high - low <= most))
    throw Error(text("high - low = ", high - low, " is more than ", dtype(), " holds: ", most));
  Tensor numbers = drawn_into(*this, generator, Distribution::uniform);
  if (low == 0 && high == 1) return written(*this, numbers);
  numbers.mul_(high - low).add_(low);
  // A number that was rounded up to `high`, which is excluded, becomes `low`, whose probability would otherwise be half
  // of that of the others. Most often there is no such number.
  const Tensor every = dispatch::all_samples(numbers);
  if (every.numel() > 0 && (weft::max(every) >= high).item<bool>()) numbers.masked_fill_(numbers >= high, low);
  return written(*this, numbers);
}
Tensor& Tensor::uniform_(double low, double high) { return uniform_(low, high, default_generator()); }

Tensor& Tensor::normal_(double mean, double std, Generator& generator) {
  ErrorFrame frame("normal_", *this);
  check_deviation(std);
  Tensor numbers = drawn_into(*this, generator, Distribution::normal);
  if (std != 1) numbers.mul_(std);
  if (mean != 0) numbers.add_(mean);
  return written(*this, numbers);
}
Tensor& Tensor::normal_(double mean, double std) { return normal_(mean, std, default_generator()); }

Tensor& Tensor::random_(int64_t low, int64_t high, Generator& generator) {
  ErrorFrame frame("random_", *this);
  check_bounds(low, high);
  return written(*this, drawn_into(*this, generator, Distribution::integers, low, high));
}
Tensor& Tensor::random_(int64_t low, int64_t high) { return random_(low, high, default_generator()); }
Tensor& Tensor::random_() {
  ErrorFrame frame("random_", *this);
  return random_(0, integers_of(dtype()));
}

Tensor& Tensor::bernoulli_(double p, Generator& generator) {
  ErrorFrame frame("bernoulli_", *this);
  check_probability("the probability", p);
  return copy_(rand(shape(), generator, f32, device()) < p);
}
Tensor& Tensor::bernoulli_(const Tensor& p, Generator& generator) {
  ErrorFrame frame("bernoulli_", *this, p);
  return copy_(weft::bernoulli(weft::broadcast(p, shape()), generator));
}
Tensor& Tensor::bernoulli_(const Tensor& p) { return bernoulli_(p, default_generator()); }
Tensor& Tensor::bernoulli_(double p) { return bernoulli_(p, default_generator()); }

Tensor& Tensor::exponential_(double rate, Generator& generator) {
  ErrorFrame frame("exponential_", *this);
  if (!(rate > 0)) throw Error(text("the rate ", rate, " must be positive"));
  const Tensor u = fine_uniform(*this, generator);
  // A number that is 0 becomes the next larger one, so that no time is 0.
  return copy_(weft::log1p(-weft::clip(u, u.dtype() == f64 ? 0x1p-53 : 0x1p-24)) / -rate);
}
Tensor& Tensor::geometric_(double p, Generator& generator) {
  ErrorFrame frame("geometric_", *this);
  if (!(p > 0 && p < 1)) throw Error(text("the probability ", p, " must lie between 0 and 1, without both"));
  const Tensor u = fine_uniform(*this, generator);
  return copy_(weft::clip(weft::ceil(weft::log1p(-u) / std::log1p(-p)), 1));
}
Tensor& Tensor::geometric_(double p) { return geometric_(p, default_generator()); }

Tensor& Tensor::log_normal_(double mean, double std, Generator& generator) {
  ErrorFrame frame("log_normal_", *this);
  check_deviation(std);
  return copy_(weft::exp(randn_like(*this, generator) * std + mean));
}
Tensor& Tensor::log_normal_(double mean, double std) { return log_normal_(mean, std, default_generator()); }

Tensor& Tensor::cauchy_(double median, double scale, Generator& generator) {
  ErrorFrame frame("cauchy_", *this);
  if (!(scale > 0)) throw Error(text("the scale ", scale, " must be positive"));
  const Tensor u = fine_uniform(*this, generator);
  return copy_(weft::tan((u - 0.5) * std::numbers::pi) * scale + median);
}
Tensor& Tensor::cauchy_(double median, double scale) { return cauchy_(median, scale, default_generator()); }

Tensor& Tensor::exponential_(double rate) { return exponential_(rate, default_generator()); }

}  // namespace weft
