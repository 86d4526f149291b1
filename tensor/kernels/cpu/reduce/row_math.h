// Folds over one contiguous row of floats, which are computed in C: float, or double for those of f64. Exponentials of
// one.
#pragma once

#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/reduce/moments.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"

namespace weft::kernels::cpu {

namespace detail {
/// The sum of registers of C: up to 8 are added in C, those sums in double.
template <class C> struct WideSum {
  using Wide = simd::Vec<double>;
  static constexpr int kParts = simd::kLanes<C> / simd::kLanes<double>;
  Wide parts[kParts] = {};
  simd::Vec<C> stage = {};
  int staged = 0;
  WEFT_SIMD void add(simd::Vec<C> v) {
    stage += v;
    if (++staged == 8) flush();
  }
  /// Of eight registers at most.
  WEFT_SIMD void add_sum(simd::Vec<C> sum) { accumulate<SumOp<C>>(parts, sum); }
  WEFT_SIMD void flush() {
    accumulate<SumOp<C>>(parts, stage);
    stage = simd::Vec<C>{};
    staged = 0;
  }
  WEFT_SIMD double total() {
    if (staged > 0) flush();
    for (int k = 1; k < kParts; ++k) parts[0] += parts[k];
    return simd::fold_lanes<Add, double, simd::kLanes<double>>(parts[0]);
  }
};

}  // namespace detail

/// The sum of value(j, count) over the registers of a row; lanes from `count` on must be zero.
template <class C, class F> [[gnu::always_inline]] inline double sum_lanes(int64_t length, const F& value) {
  constexpr int kWidth = simd::kLanes<C>;
  detail::WideSum<C> sum;
  int64_t j = 0;
  // Names, not an array: what is computed in a loop over one stays in memory.
  const auto at = [&](int k) __attribute__((always_inline)) {
    return value(j + k * kWidth, std::integral_constant<int, kWidth>{});
  };
  for (; j + 8 * kWidth <= length; j += 8 * kWidth) {
    simd::Vec<C> a = at(0), b = at(1), c = at(2), d = at(3);
    a += at(4), b += at(5), c += at(6), d += at(7);
    sum.add_sum((a + c) + (b + d));
  }
  // By fours, twos and one by one: sums of as many equal values are exact in C, so that their mean is that value.
  if (j + 4 * kWidth <= length) sum.add_sum((at(0) + at(1)) + (at(2) + at(3))), j += 4 * kWidth;
  if (j + 2 * kWidth <= length) sum.add_sum(at(0) + at(1)), j += 2 * kWidth;
  for_lanes<C>(
      length - j, [&](int64_t i, auto count) __attribute__((always_inline)) { sum.add_sum(value(j + i, count)); });
  return sum.total();
}

/// The largest value that is no NaN; -inf where there is none. (What is subtracted from a row before the exponentials:
/// a NaN comes through in their sum.)
template <class T> Compute<T> row_max(const T* x, int64_t n) {
  using C = Compute<T>;
  constexpr int kWidth = simd::kLanes<C>;
  const simd::Vec<C> lowest = simd::splat<C>(-std::numeric_limits<C>::infinity());
  simd::Vec<C> best[4] = {lowest, lowest, lowest, lowest};  // independent: each waits for its own last result
  int64_t j = 0;
  for (; j + 4 * kWidth <= n; j += 4 * kWidth)
    for (int k = 0; k < 4; ++k) best[k] = simd::larger(simd::load<C>(x + j + k * kWidth), best[k]);
  for_lanes<C>(n - j, [&](int64_t i, auto count) {
    simd::Vec<C> v = lanes_at(x + j + i, count);
    if (count < kWidth) v = simd::first_lanes<C>(v, lowest, count);
    best[0] = simd::larger(v, best[0]);
  });
  best[0] = simd::larger(simd::larger(best[0], best[1]), simd::larger(best[2], best[3]));
  return simd::fold_lanes<ExtremeOp<C, true>, C, kWidth>(best[0]);
}

/// The sum of f(x) of a row, in double throughout: where float overflows.
template <class T, class F> double sum_in_double(const T* x, int64_t n, const F& f) {
  return sum_lanes<double>(n, [&](int64_t j, auto count) {
    if constexpr (std::is_same_v<decltype(count), int>)
      return simd::first_lanes<double>(f(simd::load_part<double>(x + j, count)), simd::Vec<double>{}, count);
    else
      return f(simd::load<double>(x + j));
  });
}

template <class T> double row_sum(const T* x, int64_t n) {
  const double sum = sum_lanes<Compute<T>>(n, [&](int64_t j, auto count) {
    simd::prefetch(x + j);
    return lanes_at(x + j, count);
  });
  if (std::isfinite(sum)) [[likely]]
    return sum;
  return sum_in_double(x, n, [](simd::Vec<double> v) { return v; });
}

/// The sum of (x - mean)^2; NaN where it is too large for a double.
template <class T> double row_squares(const T* x, int64_t n, double mean) {
  using C = Compute<T>;
  const C rounded = static_cast<C>(mean);
  const auto square = [&](int64_t j, auto count) {
    auto v = lanes_at(x + j, count) - rounded;
    if (count < simd::kLanes<C>) v = simd::first_lanes<C>(v, simd::Vec<C>{}, count);
    return v * v;
  };
  const double squares = sum_lanes<C>(n, square);
  if (std::isfinite(squares)) [[likely]]
    return recentered<C>(squares, static_cast<double>(n), mean);
  const double wide = sum_in_double(x, n, [mean](simd::Vec<double> v) { return (v - mean) * (v - mean); });
  return std::isinf(wide) ? std::numeric_limits<double>::quiet_NaN() : wide;  // 1 / inf would hide it
}

/// The sum of a * b.
template <class T> double row_dot(const T* a, const T* b, int64_t n) {
  return sum_lanes<Compute<T>>(n, [&](int64_t j, auto count) {
    simd::prefetch(a + j), simd::prefetch(b + j);
    return lanes_at(a + j, count) * lanes_at(b + j, count);
  });
}

/// The sum of exp(x - shift) where no x is above shift; put(j, x - shift, exp(x - shift), count) gets the registers on
/// the way.
template <class T, class Put> double row_exp(const T* x, int64_t n, Compute<T> shift, const Put& put) {
  using C = Compute<T>;
  constexpr int kWidth = simd::kLanes<C>;
  return sum_lanes<C>(
      n, [&](int64_t j, auto count) __attribute__((always_inline)) {
        simd::prefetch(x + n + j, 0);  // the next row, while this one is worked on
        const auto difference = lanes_at(x + j, count) - shift;
        auto e = vmath::exp_below(difference);
        if (count < kWidth) e = simd::first_lanes<C>(e, simd::Vec<C>{}, count);
        put(j, difference, e, count);
        return e;
      });
}

/// y = exp(x - shift) and its sum; no x is above shift. y is a pointer or WholeLanes.
template <class T, class Row> double row_exp_to(const T* x, int64_t n, Compute<T> shift, Row y) {
  return row_exp(x, n, shift, [y](int64_t j, auto, auto e, auto count) { put_lanes(y + j, e, count); });
}

/// x - mean without losing what float(mean) cannot hold.
template <class C> struct Center {
  explicit Center(double mean) : high(static_cast<C>(mean)), low(static_cast<C>(mean - static_cast<double>(high))) {
    if (!(low == low)) low = 0;  // an infinite mean
  }
  simd::Vec<C> operator()(simd::Vec<C> x) const { return (x - high) - low; }
  C of(C x) const { return (x - high) - low; }
  C high;
  C low;
};

/// y = x * factor.
template <class C> void row_scale(const C* x, int64_t n, C factor, C* y) {
  for_lanes<C>(n, [&](int64_t j, auto count) { put_lanes(y + j, lanes_at(x + j, count) * factor, count); });
}

}  // namespace weft::kernels::cpu
