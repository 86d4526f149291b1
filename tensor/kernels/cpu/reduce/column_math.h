// row_math.h for rows that are interleaved in memory (along the channels of NCHW): a register holds one element of as
// many rows as it has lanes, and every row has a lane to itself. So nothing is copied and no row is too short.
#pragma once

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/vector_functions.h"
#include "tensor/kernels/cpu/reduce/row_math.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Rows of T are interleaved (those of one element always are), enough of them to fill a register.
template <class T> bool in_columns(const RowView& x) {
  return (x.inner.rank == 0 || (x.inner.rank == 1 && x.inner.inner().in != 1)) && x.outer.rank > 0 &&
         x.outer.inner().in == 1 && x.outer.inner().size >= simd::kLanes<Compute<T>>;
}
/// The same rows are interleaved in both.
template <class T> bool in_columns(const RowView& x, const RowView& y) {
  return in_columns<T>(x) && in_columns<T>(y) && x.outer.inner().size == y.outer.inner().size;
}

/// f(first row, count) on all rows; the rows of one call are interleaved, a register of them or fewer.
template <class T, class F> void for_columns(const RowView& view, const F& f) {
  constexpr int kWidth = simd::kLanes<Compute<T>>;
  const int64_t side = view.outer.inner().size, blocks = ceil_div(side, kWidth);
  parallel_for(view.count() / side * blocks, row_grain(view.length() * kWidth), [&](int64_t begin, int64_t end) {
    int64_t at = begin % blocks * kWidth, first = begin / blocks * side;
    for (int64_t i = begin; i < end; ++i) {
      if (at + kWidth <= side)
        f(first + at, std::integral_constant<int, kWidth>{});
      else
        f(first + at, static_cast<int>(side - at));
      at += kWidth;
      if (at >= side) at = 0, first += side;
    }
  });
}

/// `count` interleaved rows from `row` on, as element j of all of them.
template <class T, class Count> struct Columns {
  using Lanes = simd::Vec<Compute<T>>;
  Columns(const RowView& view, int64_t row, Count lanes)
      : data(static_cast<T*>(view.base) + view.offset + (view.outer.rank == 1 ? row : NestWalk(view.outer, row).in())),
        step(view.inner.rank > 0 ? view.inner.inner().in : 0),
        length(view.length()),
        count(lanes) {}
  WEFT_SIMD Lanes at(int64_t j) const {
    simd::prefetch(data + j * step, simd::kVectorBytes);  // the rows beside these, which come next
    return lanes_at(data + j * step, count);
  }
  WEFT_SIMD void put(int64_t j, Lanes v) const { put_lanes(data + j * step, v, count); }

  T* data;
  int64_t step, length;
  Count count;
};

/// row_max() of each.
template <class T, class Count> WEFT_SIMD simd::Vec<Compute<T>> column_max(const Columns<T, Count>& x) {
  using C = Compute<T>;
  simd::Vec<C> best = simd::splat<C>(-std::numeric_limits<C>::infinity());
  for (int64_t j = 0; j < x.length; ++j) best = simd::larger(x.at(j), best);
  return best;
}

/// Double sums, one for each lane of a register of T.
template <class T> struct ColumnSum : detail::WideSum<T> {
  using Wide = typename detail::WideSum<T>::Wide;
  static constexpr int kPart = simd::kLanes<double>;
  /// f(register of sums) as lanes of T.
  template <class F> WEFT_SIMD simd::Vec<T> mapped(const F& f) {
    if (this->staged > 0) this->flush();
    T out[simd::kLanes<T>];
    for (int k = 0; k < detail::WideSum<T>::kParts; ++k) simd::store<double>(out + k * kPart, f(this->parts[k]));
    return simd::load<T>(out);
  }
  WEFT_SIMD simd::Vec<T> rounded() {
    return mapped([](Wide sum) { return sum; });
  }
  WEFT_SIMD simd::Vec<T> inverse() {
    return mapped([](Wide sum) { return 1.0 / sum; });
  }
  /// Of sums from 1 on, or NaN.
  WEFT_SIMD simd::Vec<T> log() {
    return mapped([](Wide sum) {
      if constexpr (std::is_same_v<T, double>) {
        for (int k = 0; k < kPart; ++k) sum[k] = std::log(sum[k]);
        return sum;
      }
      constexpr double kLog2 = 0.69314718055994531;
      return vmath::select(sum == sum, vmath::detail::log2_of_doubles(sum) * kLog2, sum);
    });
  }
};

/// The sum of exp(x - shift) of each, where no x is above shift; put(j, x - shift, exp(x - shift)) on the way.
template <class T, class Count, class Put>
WEFT_SIMD ColumnSum<Compute<T>> column_exp(const Columns<T, Count>& x, simd::Vec<Compute<T>> shift, const Put& put) {
  ColumnSum<Compute<T>> sum;
  for (int64_t j = 0; j < x.length; ++j) {
    const simd::Vec<Compute<T>> difference = x.at(j) - shift, e = vmath::exp_below(difference);
    put(j, difference, e);
    sum.add(e);
  }
  return sum;
}

}  // namespace weft::kernels::cpu
