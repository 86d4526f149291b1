// row_math.h for rows of one or two registers, as many at a time as a register holds doubles: what a row costs beside
// its registers, and the wait of each step of a fold for the one before it, would be most of it. A fold's results are
// the lanes of one register, with the bits of the same fold in row_math.h; a row's do not depend on the others.
#pragma once

#include "tensor/kernels/cpu/base/vector_library.h"
#include "tensor/kernels/cpu/reduce/row_math.h"

namespace weft::kernels::cpu {

/// Rows of a group.
inline constexpr int kGroupRows = simd::kLanes<double>;
/// Lane k belongs to row k of a group.
using RowDoubles = simd::Vec<double>;
/// Rows up to this long go in groups.
template <class C> inline constexpr int64_t kGroupedRow = 2 * simd::kLanes<C>;

/// The rows of a group in registers, kParts to a row; lanes past the end of a row are zero.
template <class C, int kParts> struct RowGroup {
  static constexpr int kWidth = simd::kLanes<C>;
  using Lanes = simd::Vec<C>;
  Lanes rows[kGroupRows][kParts];

  /// Of a row's `length` elements those in register `part`.
  WEFT_SIMD static int lanes_of(int64_t length, int part) {
    return part + 1 < kParts ? kWidth : static_cast<int>(length) - part * kWidth;
  }
  /// The first `held` rows; zeros in place of the others.
  template <class Reader> WEFT_SIMD void read(Reader& reader, int64_t held, int64_t length) {
    if constexpr (requires { Reader::kEven; }) {
#pragma GCC unroll 8
      for (int k = 0; k < kGroupRows; ++k)  // each by its name: an array with an index that varies stays in memory
        read_row(k, reader, held, length);
    } else {
      read_any(reader, held, length);
    }
  }
  template <class Writer> WEFT_SIMD void write(Writer& writer, int64_t held, int64_t length) const {
    if constexpr (requires { Writer::kEven; }) {
#pragma GCC unroll 8
      for (int k = 0; k < kGroupRows; ++k)
        if (k < held) write_row(k, writer, length);
    } else {
      write_any(writer, held, length);
    }
  }
  /// A row of `length` elements.
  WEFT_SIMD static void load(const C* from, int64_t length, Lanes (&to)[kParts]) {
    for (int p = 0; p < kParts; ++p) to[p] = lanes_at(from + p * kWidth, lanes_of(length, p));
  }
  /// Row after row, whole registers.
  WEFT_SIMD void store(C* to) const {
#pragma GCC unroll 8
    for (int k = 0; k < kGroupRows; ++k)
      for (int p = 0; p < kParts; ++p) simd::store<C>(to + (k * kParts + p) * kWidth, rows[k][p]);
  }
  /// f(row, part) for each register, in place.
  template <class F> WEFT_SIMD void each(const F& f) {
#pragma GCC unroll 8
    for (int k = 0; k < kGroupRows; ++k)
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p) rows[k][p] = f(k, p);
  }
  /// A group of f(row, part).
  template <class F> WEFT_SIMD static RowGroup of(const F& f) {
    RowGroup group;
    group.each(f);
    return group;
  }
  /// Register `part` of a row, with `rest` in the lanes past the row's end.
  WEFT_SIMD Lanes kept(Lanes v, int part, int64_t length, C rest = 0) const {
    return part + 1 < kParts ? v : simd::first_lanes<C>(v, simd::splat<C>(rest), lanes_of(length, part));
  }

 private:
  template <class Reader> WEFT_SIMD void read_row(int k, Reader& reader, int64_t held, int64_t length) {
    if (k >= held) {
      for (int p = 0; p < kParts; ++p) rows[k][p] = Lanes{};
      return;
    }
    const auto* from = reader.row();
    for (int p = 0; p < kParts; ++p) rows[k][p] = lanes_at(from + p * kWidth, lanes_of(length, p));
    reader.next();
  }
  template <class Writer> WEFT_SIMD void write_row(int k, Writer& writer, int64_t length) const {
    auto* to = writer.row();
    for (int p = 0; p < kParts; ++p) put_lanes(to + p * kWidth, rows[k][p], lanes_of(length, p));
    writer.next();
  }
  /// Of rows that are not evenly spaced: a RowReader in each of many places would be most of what is compiled.
  template <class Reader> WEFT_ONE_COPY void read_any(Reader& reader, int64_t held, int64_t length) {
#pragma GCC unroll 1
    for (int k = 0; k < kGroupRows; ++k) read_row(k, reader, held, length);
  }
  template <class Writer> WEFT_ONE_COPY void write_any(Writer& writer, int64_t held, int64_t length) const {
#pragma GCC unroll 1
    for (int k = 0; k < held; ++k) write_row(k, writer, length);
  }
};

/// A value of C for each row of a group, read back one by one.
template <class C> struct RowValues {
  C values[kGroupRows];
  RowValues() = default;
  WEFT_SIMD explicit RowValues(RowDoubles v) {
    simd::store<C, kGroupRows>(values, simd::convert_lanes<C, kGroupRows>(v));
  }
  WEFT_SIMD simd::Vec<C> operator[](int k) const { return simd::splat<C>(values[k]); }
  WEFT_SIMD RowDoubles doubles() const { return simd::load<double>(values); }
};

namespace detail {
struct Larger {
  template <class V> WEFT_SIMD static V combine(V a, V b) { return simd::larger(a, b); }
};
}  // namespace detail

/// row_max() of each, of rows of `length`.
template <class C, int kParts> WEFT_SIMD RowValues<C> group_max(const RowGroup<C, kParts>& x, int64_t length) {
  constexpr int N = kGroupRows, kWidth = simd::kLanes<C>;
  constexpr C kLowest = -std::numeric_limits<C>::infinity();
  simd::Vec<C, N> best[N];
#pragma GCC unroll 8
  for (int k = 0; k < N; ++k) {
    auto v = simd::larger(x.kept(x.rows[k][kParts - 1], kParts - 1, length, kLowest), simd::splat<C>(kLowest));
    if constexpr (kParts == 2) v = simd::larger(x.rows[k][0], v);
    if constexpr (kWidth == N)
      best[k] = v;
    else
      best[k] = simd::larger(simd::lanes<0, N>(v), simd::lanes<N, N>(v));
  }
  RowValues<C> found;
  simd::store<C, N>(found.values, detail::fold_lanes_of<detail::Larger, C, N>(best));
  return found;
}

/// sum_lanes() of each; lanes past the end of a row are zero. `together`: two registers are added in C.
template <class C, int kParts> WEFT_SIMD RowDoubles group_sum(const RowGroup<C, kParts>& x, bool together) {
  constexpr int N = kGroupRows;
  RowDoubles sums[N];
#pragma GCC unroll 8
  for (int k = 0; k < N; ++k) {
    RowDoubles parts[simd::kLanes<C> / N] = {};
    if constexpr (kParts == 1) {
      detail::accumulate<SumOp<C>>(parts, x.rows[k][0]);
    } else if (together) {
      detail::accumulate<SumOp<C>>(parts, x.rows[k][0] + x.rows[k][1]);
    } else {
      detail::accumulate<SumOp<C>>(parts, x.rows[k][0]);
      detail::accumulate<SumOp<C>>(parts, x.rows[k][1]);
    }
    sums[k] = detail::joined<SumOp<C>>(parts);
  }
  return detail::fold_lanes_of<Add, double, N>(sums);
}
/// Whether sum_lanes() adds the two registers of rows of `length` in C.
template <class C> bool adds_together(int64_t length) { return length == kGroupedRow<C>; }

/// Logarithms, of f64 those of the C library.
template <class C> WEFT_SIMD RowDoubles group_log(RowDoubles sums) {
  if constexpr (std::is_same_v<C, double>)
    return vmath::by_lane([](double v) { return std::log(v); }, sums);
  else
    return vmath::log(sums);
}

/// What rows of `length` are normalized by: mean and squared deviations as row_sum() and row_squares() give them.
struct GroupMoments {
  RowDoubles mean;
  RowDoubles squares;
};

/// Of rows whose mean is 0, with `centered`.
template <class C, int kParts>
WEFT_SIMD GroupMoments group_moments(const RowGroup<C, kParts>& x, int64_t length, bool centered) {
  const double count = static_cast<double>(length);
  const bool together = adds_together<C>(length);
  const RowDoubles sum = centered ? RowDoubles{} : group_sum(x, together), mean = sum / count;
  const RowValues<C> rounded(mean);
  const RowDoubles squares = group_sum(x.of([&](int k, int p) {
    const auto v = x.kept(x.rows[k][p] - rounded[k], p, length);
    return v * v;
  }),
                                       together);
  const RowDoubles range = (sum - sum) + (squares - squares);
  if (simd::fold_lanes<Add, double, kGroupRows>(range) == 0) [[likely]] {
    const RowDoubles lost = mean - rounded.doubles(), left = squares - count * (lost * lost);
    return {mean, left < 0.0 ? RowDoubles{} : left};
  }
  C row[kParts * simd::kLanes<C>];
  GroupMoments found;
  for (int k = 0; k < kGroupRows; ++k) {
    for (int p = 0; p < kParts; ++p) simd::store<C>(row + p * simd::kLanes<C>, x.rows[k][p]);
    found.mean[k] = centered ? 0.0 : row_sum(row, length) / count;
    found.squares[k] = row_squares(row, length, found.mean[k]);
  }
  return found;
}

/// Center of each row.
template <class C> struct GroupCenter {
  WEFT_SIMD explicit GroupCenter(RowDoubles mean) : high(mean) {
    const RowDoubles lost = mean - high.doubles();
    low = RowValues<C>(lost == lost ? lost : RowDoubles{});  // an infinite mean
  }
  WEFT_SIMD simd::Vec<C> operator()(int k, simd::Vec<C> x) const { return (x - high[k]) - low[k]; }
  RowValues<C> high, low;
};

/// Dense rows the same distance apart, as they are stored: a RowReader or RowWriter that costs next to nothing.
template <class T> class EvenRows {
 public:
  static constexpr bool kEven = true;
  EvenRows(const RowView& view, int64_t first, int64_t)
      : step_(view.outer.rank > 0 ? view.outer.inner().in : 0),
        at_(static_cast<T*>(view.base) + view.offset + first * step_) {}
  static bool fit(const RowView& view) { return view.dense() && view.outer.rank <= 1; }
  T* row() const { return at_; }
  void next() { at_ += step_; }

 private:
  int64_t step_;
  T* at_;
};

/// f.operator()<kParts, Reader, Writer>(first, end) on blocks of `block` of `count` rows.
template <class T, class F, class... View>
void for_group_blocks(int64_t count, int64_t block, int64_t length, const F& f, const View&... views) {
  const bool even = (EvenRows<T>::fit(views) && ...), narrow = length <= simd::kLanes<Compute<T>>;
  const int64_t grain = std::max<int64_t>(1, row_grain(length) / block);
  parallel_for(ceil_div(count, block), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * block, last = std::min(first + block, count);
      if (even && narrow)
        f.template operator()<1, EvenRows<const T>, EvenRows<T>>(first, last);
      else if (even)
        f.template operator()<2, EvenRows<const T>, EvenRows<T>>(first, last);
      else if (narrow)
        f.template operator()<1, RowReader<T>, RowWriter<T>>(first, last);
      else
        f.template operator()<2, RowReader<T>, RowWriter<T>>(first, last);
    }
  });
}

/// The same in blocks that suit the number of threads, of whole groups but for the last.
template <class T, class F, class... View>
void for_group_ranges(int64_t count, int64_t length, const F& f, const View&... views) {
  const int64_t threads = std::max<int64_t>(1, region_threads()), share = ceil_div(count, threads * kGroupRows);
  for_group_blocks<T>(count, std::max(share, row_grain(length) / kGroupRows + 1) * kGroupRows, length, f, views...);
}

}  // namespace weft::kernels::cpu
