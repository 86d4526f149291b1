// Folds over one contiguous row of float or double, and exponentials of one.
#pragma once

#include "tensor/kernels/cpu/moments.h"
#include "tensor/kernels/cpu/reduce_ops.h"
#include "tensor/kernels/cpu/rows.h"

namespace weft::kernels::cpu {

namespace detail {
template <class Op, class C>
typename Op::Acc fold_row(const C* x, int64_t n, typename Op::Pre parameter = {}) {
  return detail::fold_rows<Op, true>(Block<C>{x, &kNoAxes, 0, 1, n, 1}, parameter);
}

/// The sum of registers of C: up to 8 are added in C, those sums in double.
template <class C>
struct WideSum {
  using Wide = simd::Vec<double>;
  static constexpr int kParts = simd::kLanes<C> / simd::kLanes<double>;
  Wide parts[kParts] = {};
  simd::Vec<C> stage = {};
  int staged = 0;
  [[gnu::always_inline]] void add(simd::Vec<C> v) {
    stage += v;
    if (++staged < 8) return;
    accumulate<SumOp<C>>(parts, stage);
    stage = simd::Vec<C>{};
    staged = 0;
  }
  double total() {
    accumulate<SumOp<C>>(parts, stage);
    for (int k = 1; k < kParts; ++k) parts[0] += parts[k];
    return simd::fold_lanes<Add, double, simd::kLanes<double>>(parts[0]);
  }
};
}  // namespace detail

/// The largest value; NaN wins; -inf for an empty row.
template <class C>
C row_max(const C* x, int64_t n) {
  return detail::fold_row<ExtremeOp<C, true>>(x, n);
}

template <class C>
double row_sum(const C* x, int64_t n) {
  return detail::fold_row<SumOp<C>>(x, n);
}

/// The sum of (x - mean)^2.
template <class C>
double row_squares(const C* x, int64_t n, double mean) {
  return recentred<C>(detail::fold_row<DeviationOp<C>>(x, n, static_cast<C>(mean)), static_cast<double>(n), mean);
}

/// The sum of a * b.
template <class C>
double row_dot(const C* a, const C* b, int64_t n) {
  detail::WideSum<C> sum;
  for_lanes<C>(n, [&](int64_t j, auto count) { sum.add(lanes_at(a + j, count) * lanes_at(b + j, count)); });
  return sum.total();
}

/// y = exp(x - shift) and its sum; without y where it is null.
template <class C>
double row_exp(const C* x, int64_t n, C shift, C* y) {
  constexpr int kWidth = simd::kLanes<C>;
  detail::WideSum<C> sum;
  for_lanes<C>(n, [&](int64_t j, auto count) {
    auto e = simd::exp<kWidth>(lanes_at(x + j, count) - shift);
    if (count < kWidth) e = simd::first_lanes<C>(e, simd::Vec<C>{}, count);
    if (y != nullptr) put_lanes(y + j, e, count);
    sum.add(e);
  });
  return sum.total();
}

}  // namespace weft::kernels::cpu
