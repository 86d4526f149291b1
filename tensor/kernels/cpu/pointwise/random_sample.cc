// Samples of distributions that take more than one number for each: categories by weights, and numbers of events.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tensor/core/random.h"
#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/batch.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/ops/random.h"

namespace weft::kernels::cpu {
namespace {

/// An element in double.
template <class T> double as_double(T x) { return static_cast<double>(static_cast<Compute<T>>(x)); }

/// The weights of a row; Error for what is no weight. Returns how many are above 0.
template <class T> int64_t read_weights(const Operand& weights, int64_t row, std::vector<double>& out) {
  const int64_t stride = weights.stride(weights.rank() - 1), count = std::ssize(out);
  const T* from = weights.data<T>() + (weights.rank() == 2 ? row * weights.stride(0) : 0);
  const auto read = [&](int64_t step) __attribute__((always_inline)) {  // dense rows vectorize
    double* to = out.data();
    int64_t good = 0, positive = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double w = to[i] = as_double(from[i * step]);
      good += (w >= 0) & (w <= std::numeric_limits<double>::max());
      positive += w > 0;
    }
    return good == count ? positive : -1;
  };
  const int64_t positive = stride == 1 ? read(1) : read(stride);
  for (int64_t i = 0; positive < 0 && i < count; ++i)
    if (const double w = out[static_cast<size_t>(i)]; !(w >= 0) || std::isinf(w))
      throw Error(text("the weight ", w, " of category ", i, " must be finite and 0 or more"));
  if (positive == 0) throw Error("no weight is above 0");
  return positive;
}

/// The category whose part of [0, sum of weights) holds u times the sum. Puts the running sums in the weights' place.
struct ByCumulative {
  explicit ByCumulative(std::vector<double>& weights) : cumulative(weights) {
    while (weights[last] == 0) --last;
    std::partial_sum(weights.begin(), weights.end(), weights.begin());
  }
  size_t operator()(double u) const {
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), u * cumulative.back());
    return std::min(static_cast<size_t>(found - cumulative.begin()), last);  // u times the sum may round to the sum
  }
  const std::vector<double>& cumulative;
  size_t last = cumulative.size() - 1;
};

/// The `count` first of clocks that ring at exponential times with the weights as rates: P. S. Efraimidis and P. G.
/// Spirakis, "Weighted random sampling with a reservoir", 2006.
void by_clocks(const std::vector<double>& weights, size_t count, RandomKey key, int64_t row, int64_t* to) {
  using Clock = std::pair<double, size_t>;
  const size_t kept = count < weights.size() / 4 ? count : weights.size();
  std::vector<Clock> first;  // once there are as many as are kept: a heap with the latest in front
  first.reserve(kept);
  std::array<double, 2> uniform{};
  for (size_t i = 0; i < weights.size(); ++i) {
    const uint64_t element = static_cast<uint64_t>(row) * weights.size() + i;
    if (i == 0 || element % 2 == 0) uniform = uniform_block_f64(key, element / 2);
    const double u = uniform[element % 2], w = weights[i];
    // -log(1 - u) >= u: where u / w is above the times that are kept, so is the time, and no logarithm is needed.
    if (w == 0 || (first.size() == kept && u / w > first.front().first)) continue;
    const Clock clock{-std::log1p(-u) / w, i};
    if (first.size() < kept) {
      first.push_back(clock);
      if (first.size() == kept) std::make_heap(first.begin(), first.end());
    } else if (clock < first.front()) {
      std::pop_heap(first.begin(), first.end());
      first.back() = clock;
      std::push_heap(first.begin(), first.end());
    }
  }
  std::sort(first.begin(), first.end());
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<int64_t>(first[i].second);
}

/// The uniform numbers of one element: blocks of a stream that no other element and no other kind of stream reads.
class OwnStream {
 public:
  OwnStream(RandomKey key, int64_t element) : key_(key), at_(key.offset + static_cast<uint64_t>(element)) {}
  double next() {
    if (used_ == 2) {
      const auto bits = philox({static_cast<uint32_t>(at_), static_cast<uint32_t>(at_ >> 32), ++block_, 0},
                               {static_cast<uint32_t>(key_.seed), static_cast<uint32_t>(key_.seed >> 32)});
      values_ = {to_uniform(bits[0], bits[1]), to_uniform(bits[2], bits[3])};
      used_ = 0;
    }
    return values_[used_++];
  }

 private:
  RandomKey key_;
  uint64_t at_;
  uint32_t block_ = 0;
  size_t used_ = 2;
  std::array<double, 2> values_{};
};

/// Small rates by counting arrivals; others by transformed rejection: W. Hormann, "The transformed rejection method for
/// generating Poisson random variables", 1993 (PTRS).
double poisson_of(double rate, OwnStream stream) {
  if (rate < 10) {
    const double end = std::exp(-rate);
    double count = 0, product = stream.next();
    while (product > end) ++count, product *= stream.next();
    return count;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), certain = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = stream.next() - 0.5, v = stream.next(), s = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / s + b) * u + rate + 0.43);
    if (s >= 0.07 && v <= certain) return k;
    if (!(k >= 0) || (s < 0.013 && v > s)) continue;
    if (std::log(v * inverse_alpha / (a / (s * s) + b)) <= k * std::log(rate) - rate - log_gamma(k + 1)) return k;
  }
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Multinomial::cpu(const Operand& weights, const Operand& out) const {
  const int64_t rows = weights.rank() == 2 ? weights.shape()[0] : 1;
  const size_t categories = static_cast<size_t>(weights.shape()[static_cast<size_t>(weights.rank() - 1)]);
  if (count == 0) return;
  const RandomKey key{seed, offset};
  int64_t* const to = out.data<int64_t>();  // row-major
  visit_floating(weights.dtype, [&]<class T>() {
    parallel_for(rows, 1 + kSlowGrain / static_cast<int64_t>(categories), [&](int64_t begin, int64_t end) {
      std::vector<double> row(categories);
      for (int64_t r = begin; r < end; ++r) {
        const int64_t positive = read_weights<T>(weights, r, row);
        if (!replacement && positive < count)
          throw Error(
              text("cannot draw ", count, " samples without replacement: only ", positive, " weights are above 0"));
        if (replacement) {
          const ByCumulative category(row);
          for (int64_t i = r * count; i < (r + 1) * count; ++i)
            to[i] = static_cast<int64_t>(category(uniform_element<double>(key, static_cast<uint64_t>(i))));
        } else {
          by_clocks(row, static_cast<size_t>(count), key, r, to + r * count);
        }
      }
    });
  });
}

void op::Poisson::cpu(const Operand& rates, const Operand& out) const {
  const RandomKey key{seed, offset};
  visit_floating(rates.dtype, [&]<class T>() {
    T* const to = out.data<T>();  // row-major
    parallel_for(rates.numel(), kSlowGrain / 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double rate = as_double(rates.data<T>()[offset_of(rates, i, 0)]);
        if (!(rate >= 0) || std::isinf(rate)) throw Error(text("the rate ", rate, " must be finite and 0 or more"));
        to[i] = static_cast<T>(static_cast<Compute<T>>(poisson_of(rate, OwnStream(key, i))));
      }
    });
  });
}

}  // namespace weft
