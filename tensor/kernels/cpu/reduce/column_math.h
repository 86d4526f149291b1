// row_math.h for rows that are interleaved in memory (along the channels of NCHW): a register holds one element of as
// many rows as it has lanes, and every row has a lane to itself. So nothing is copied and no row is too short.
#pragma once

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/kernels/cpu/base/vector_functions.h"
#include "tensor/kernels/cpu/reduce/row_math.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Rows of T are interleaved, enough of them to fill a register.
template <class T> bool in_columns(const RowView& x) {
  return x.inner.rank == 1 && x.inner.inner().in != 1 && x.outer.rank > 0 && x.outer.inner().in == 1 &&
         x.outer.inner().size >= simd::kLanes<Compute<T>>;
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
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i % blocks * kWidth, row = i / blocks * side + at;
      if (at + kWidth <= side)
        f(row, std::integral_constant<int, kWidth>{});
      else
        f(row, static_cast<int>(side - at));
    }
  });
}

/// `count` interleaved rows from `row` on, as element j of all of them.
template <class T, class Count> struct Columns {
  using Lanes = simd::Vec<Compute<T>>;
  Columns(const RowView& view, int64_t row, Count lanes)
      : data(static_cast<T*>(view.base) + view.offset + NestWalk(view.outer, row).in()),
        step(view.inner.inner().in),
        length(view.length()),
        count(lanes) {}
  Columns(T* first, int64_t line, int64_t lines, Count lanes) : data(first), step(line), length(lines), count(lanes) {}
  WEFT_SIMD Lanes at(int64_t j) const {
    simd::prefetch(data + j * step, simd::kVectorBytes);  // the rows beside these, which come next
    return lanes_at(data + j * step, count);
  }
  WEFT_SIMD void put(int64_t j, Lanes v) const { put_lanes(data + j * step, v, count); }

  T* data;
  int64_t step, length;
  Count count;
};

/// Rows up to this long are worked on as columns too, transposed on the way: row by row, what a row costs beside its
/// few registers would be most of it.
template <class C> inline constexpr int64_t kNarrowRow = 2 * simd::kLanes<C>;

namespace detail {
/// Up to a register of narrow rows, and the same as columns: element j of all rows is at columns + j * kWidth.
template <class C> struct NarrowRows {
  static constexpr int kWidth = simd::kLanes<C>, kParts = kNarrowRow<C> / kWidth;
  simd::Vec<C> parts[kParts][kWidth];

  explicit NarrowRows(int64_t length) : length_(length), used_(ceil_div(length, kWidth)) {}
  C* columns() { return reinterpret_cast<C*>(parts); }
  template <class Reader> void read(Reader& reader, int64_t count) {
    for (int64_t k = 0; k < count; ++k, reader.next()) {
      const auto* row = reader.row();
      for (int64_t p = 0; p < used_; ++p) parts[p][k] = lanes_at(row + p * kWidth, lanes_of(p));
    }
    for (int64_t k = count; k < kWidth; ++k)
      for (int64_t p = 0; p < used_; ++p) parts[p][k] = simd::Vec<C>{};
    transpose();
  }
  template <class Writer> void write(Writer& writer, int64_t count) {
    transpose();
    for (int64_t k = 0; k < count; ++k, writer.next()) {
      auto* row = writer.row();
      for (int64_t p = 0; p < used_; ++p) put_lanes(row + p * kWidth, parts[p][k], lanes_of(p));
    }
  }

 private:
  int lanes_of(int64_t part) const { return static_cast<int>(std::min<int64_t>(kWidth, length_ - part * kWidth)); }
  void transpose() {
    for (int64_t p = 0; p < used_; ++p) simd::transpose<C>(parts[p]);
  }
  int64_t length_, used_;
};
}  // namespace detail

/// f(columns of each input..., columns of the result) on all rows, which are narrow; the result's columns are those of
/// the first input.
template <class T, class F, class... In> void for_narrow_rows(const RowView& to, const F& f, const In&... in) {
  using C = Compute<T>;
  using Narrow = detail::NarrowRows<C>;
  constexpr int kWidth = Narrow::kWidth;
  const int64_t length = to.length(), count = to.count();
  const auto run = [&]<class Reader, class Writer>(int64_t begin, int64_t end) {
    const int64_t first = begin * kWidth, last = std::min(end * kWidth, count);
    Reader readers[] = {Reader(in, first, last)...};
    Writer writer(to, first, last);
    Narrow rows[] = {(static_cast<void>(in), Narrow(length))...};
    for (int64_t i = first; i < last; i += kWidth) {
      const int64_t held = std::min<int64_t>(kWidth, last - i);
      [&]<size_t... k>(std::index_sequence<k...>) {
        (rows[k].read(readers[k], held), ...);
        using Block = Columns<C, std::integral_constant<int, kWidth>>;
        f(Block(rows[k].columns(), kWidth, length, {})..., Block(rows[0].columns(), kWidth, length, {}));
      }
      (std::make_index_sequence<sizeof...(In)>());
      rows[0].write(writer, held);
    }
  };
  for_row_ranges<T>(ceil_div(count, kWidth), row_grain(length * kWidth), run, to, in...);
}

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
