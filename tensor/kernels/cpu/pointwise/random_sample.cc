// Samples of distributions that take more than one number for each: categories by weights, and numbers of events.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tensor/core/random.h"
#include "tensor/kernels/cpu/base/batch.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/ops/random.h"

namespace weft::kernels::cpu {
namespace {

/// Element i of a row, in double.
template <class T> double value_at(const Operand& x, int64_t place) {
  return static_cast<double>(static_cast<Compute<T>>(x.data<T>()[place]));
}

/// The weights of a row; Error for what is no weight. Returns how many are above 0.
template <class T> int64_t read_weights(const Operand& weights, int64_t row, std::vector<double>& out) {
  const int64_t axis = weights.rank() - 1, stride = weights.stride(axis);
  const int64_t start = weights.rank() == 2 ? row * weights.stride(0) : 0;
  int64_t positive = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const double w = out[i] = value_at<T>(weights, start + static_cast<int64_t>(i) * stride);
    if (!(w >= 0) || std::isinf(w))
      throw Error(text("the weight ", w, " of category ", i, " must be finite and 0 or more"));
    positive += w > 0;
  }
  if (positive == 0) throw Error("no weight is above 0");
  return positive;
}

/// The category whose part of [0, sum of weights) holds u times the sum.
struct ByCumulative {
  explicit ByCumulative(const std::vector<double>& weights) : cumulative(weights.size()) {
    std::partial_sum(weights.begin(), weights.end(), cumulative.begin());
    while (weights[last] == 0) --last;
  }
  size_t operator()(double u) const {
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), u * cumulative.back());
    return std::min(static_cast<size_t>(found - cumulative.begin()), last);  // u times the sum may round to the sum
  }
  std::vector<double> cumulative;
  size_t last = cumulative.size() - 1;
};

/// The `count` first of clocks that ring at exponential times with the weights as rates: P. S. Efraimidis and P. G.
/// Spirakis, "Weighted random sampling with a reservoir", 2006.
std::vector<size_t> by_clocks(const std::vector<double>& weights, size_t count, RandomKey key, int64_t row) {
  const size_t n = weights.size();
  std::vector<double> times(n);
  for (size_t i = 0; i < n; ++i) {
    const double u = uniform_element<double>(key, static_cast<uint64_t>(row) * n + i);
    times[i] = -std::log1p(-u) / weights[i];
    if (weights[i] == 0) times[i] = std::numeric_limits<double>::infinity();
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto earlier = [&](size_t a, size_t b) { return times[a] < times[b] || (times[a] == times[b] && a < b); };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), earlier);
  return order;
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

double log_factorial(double k) {
  int sign = 0;
  return ::lgamma_r(k + 1, &sign);
}

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
    if (std::log(v * inverse_alpha / (a / (s * s) + b)) <= k * std::log(rate) - rate - log_factorial(k)) return k;
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
          const std::vector<size_t> order = by_clocks(row, static_cast<size_t>(count), key, r);
          std::copy_n(order.begin(), count, to + r * count);
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
        const double rate = value_at<T>(rates, offset_of(rates, i, 0));
        if (!(rate >= 0) || std::isinf(rate)) throw Error(text("the rate ", rate, " must be finite and 0 or more"));
        to[i] = static_cast<T>(static_cast<Compute<T>>(poisson_of(rate, OwnStream(key, i))));
      }
    });
  });
}

}  // namespace weft
