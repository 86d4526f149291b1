// The two loops of scans: many interleaved lines at once, or line by line.
#pragma once

#include <algorithm>
#include <array>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Lines that advance together.
inline constexpr int64_t kScanLines = 256;
/// Elements of a line that are summed before anything else is added.
inline constexpr int64_t kScanBlock = 8192;

/// The lines of an operand along `axis`, in the order in which they lie in `like`.
struct Lines : RowView {
  Lines(const Operand& x, int64_t axis, const Operand& like)
      : RowView(x, axis, like), step(inner.rank > 0 ? inner.inner().in : 0) {}
  template <class T> T* at(int64_t line) const {
    const int64_t place = is_even() ? line * neighbors().in : NestWalk(outer, line).in();
    return static_cast<T*>(base) + offset + place;
  }
  /// Whether a line's elements follow each other.
  bool is_run() const { return inner.rank == 0 || (inner.rank == 1 && step == 1); }
  /// Whether a line's elements are the same distance apart.
  bool has_step() const { return inner.rank <= 1; }
  /// Whether the lines are the same distance apart.
  bool is_even() const { return outer.rank <= 1; }
  NestAxis neighbors() const { return outer.rank > 0 ? outer.inner() : NestAxis{1, 0, 0}; }
  int64_t step;
};

/// The first elements of lines, one after the other: where they are the same distance apart, without a division each.
template <class T> class LineWalk {
 public:
  LineWalk(const Lines& lines, int64_t first)
      : lines_(lines), line_(first), is_even_(lines.is_even()), at_(lines.at<T>(first)) {}
  T* next() {
    T* at = at_;
    ++line_;
    if (is_even_)
      at_ += lines_.neighbors().in;
    else if (line_ < lines_.count())
      at_ = lines_.at<T>(line_);
    return at;
  }
  int64_t step() const { return lines_.step; }

 private:
  const Lines& lines_;
  int64_t line_;
  bool is_even_;
  T* at_;
};

/// Whether at least `fewest` lines of all operands are interleaved, one element apart.
template <class... L> bool are_neighbors(int64_t fewest, const Lines& first, const L&... others) {
  const int64_t size = first.neighbors().size;
  const auto fits = [&](const Lines& x) { return x.neighbors().size == size && x.neighbors().in == 1; };
  return size >= fewest && fits(first) && (true && ... && fits(others));
}

/// Lines [0, count) that start at out, positions (null where the scan has none) and in; steps lead along the lines.
template <class Op, class T, class O, size_t N> struct Band {
  int64_t length, count;
  O* out;
  int64_t* positions;
  std::array<const T*, N> in;
  int64_t out_step, position_step;
  std::array<int64_t, N> in_steps;

  void scan() {
    typename Op::State states[kScanLines];
    for (int64_t j = 0; j < count; ++j) states[j] = Op::start();
    for (int64_t i = 0; i < length; ++i) {
      Compute<T> widened[N][is_half<T> ? kScanLines : 1];
      [&]<size_t... k>(std::index_sequence<k...>) { step(states, i, values_at(in[k], widened[k])...); }
      (std::make_index_sequence<N>());
      put(states, out + i * out_step);
      if constexpr (requires { states[0].position; })
        for (int64_t j = 0; j < count; ++j) positions[i * position_step + j] = states[j].position;
      for (size_t k = 0; k < N; ++k) in[k] += in_steps[k];
    }
  }

 private:
  const Compute<T>* values_at(const T* from, [[maybe_unused]] Compute<T>* widened) const {
    if constexpr (is_half<T>) {
      widen(from, widened, count);
      return widened;
    } else {
      return from;
    }
  }
  template <class... P> void step(typename Op::State* states, int64_t i, const P*... from) const {
    for (int64_t j = 0; j < count; ++j) Op::step(states[j], i, from[j]...);
  }
  void put(const typename Op::State* states, O* to) const {
    if constexpr (is_half<O>) {
      float wide[kScanLines];
      for (int64_t j = 0; j < count; ++j) wide[j] = static_cast<float>(Op::value(states[j]));
      narrow(wide, to, count);
    } else {
      for (int64_t j = 0; j < count; ++j) to[j] = static_cast<O>(Op::value(states[j]));
    }
  }
};

/// Whether lines are the same distance apart, and the results and positions runs of memory.
template <class... L> bool are_even_runs(const Lines& out, const Lines& positions, const L&... in) {
  return out.is_run() && positions.is_run() && out.is_even() && positions.is_even() && (true && ... && in.is_even());
}

/// Scans lines of are_even_runs() as if they were interleaved, in tiles that are transposed on the way in and out: so
/// several lines advance in one register, whatever their length.
template <class Op, class T, class O, class... L>
void scan_in_tiles(int64_t length, const Lines& out, const Lines* positions, const L&... in) {
  constexpr size_t N = sizeof...(L);
  constexpr int64_t kTile = 2048;  // elements: a tile of each operand stays in the L2 cache
  const int64_t width = std::clamp<int64_t>(kTile / length / 16 * 16, 16, kScanLines), count = out.count();
  parallel_for(ceil_div(count, width), std::max<int64_t>(1, 32768 / (width * length)), [&](int64_t tile, int64_t end) {
    const Scratch<T> values(static_cast<int64_t>(N) * width * length);
    const Scratch<O> results(width * length);
    const Scratch<int64_t> places(positions != nullptr ? width * length : 0);
    for (; tile < end; ++tile) {
      const int64_t line = tile * width, lines = std::min(width, count - line);
      Band<Op, T, O, N> band{length, lines, results.data(), places.data(), {}, width, width, {}};
      size_t n = 0;
      const auto fetch = [&](const Lines& x) {
        T* to = values.data() + static_cast<int64_t>(n) * width * length;
        to_columns<T>(x.template at<const T>(line), x.neighbors().in, x.step, to, width, lines, length);
        band.in[n] = to, band.in_steps[n++] = width;
      };
      (fetch(in), ...);
      band.scan();
      to_columns<O>(results.data(), width, 1, out.at<O>(line), out.neighbors().in, length, lines);
      if (positions != nullptr)
        to_columns<int64_t>(places.data(), width, 1, positions->at<int64_t>(line), positions->neighbors().in, length,
                            lines);
    }
  });
}

/// Scans interleaved lines: elements of the same index are adjacent in memory, and are computed together.
template <class Op, class T, class O, class... L>
void scan_neighbors(int64_t length, const Lines& out, const Lines* positions, const L&... in) {
  constexpr size_t N = sizeof...(L);
  const int64_t size = out.neighbors().size, width = std::min(size, kScanLines);
  const int64_t groups = ceil_div(size, width), bands = out.count() / size;
  parallel_for(bands * groups, std::max<int64_t>(1, 32768 / (width * length)), [&](int64_t g, int64_t end) {
    for (; g < end; ++g) {
      const int64_t skipped = g % groups * width, line = g / groups * size + skipped;
      Band<Op, T, O, N>{length,
                        std::min(width, size - skipped),
                        out.at<O>(line),
                        positions != nullptr ? positions->at<int64_t>(line) : nullptr,
                        {in.template at<const T>(line)...},
                        out.step,
                        positions != nullptr ? positions->step : 0,
                        {in.step...}}
          .scan();
    }
  });
}

/// Scans lines one by one: f(line, count, out row, positions row, input rows...) on every one. A few long ones come one
/// after the other, with all threads left to f.
template <class T, class O, class F, class... L>
void scan_each_line(int64_t length, const Lines& out, const Lines* positions, const F& f, const L&... in) {
  const int64_t lines = out.count();
  const bool one_by_one = length >= 8 * kScanBlock && lines < region_threads();
  parallel_for(lines, one_by_one ? lines : row_grain(length), [&](int64_t begin, int64_t end) {
    RowReader<T> readers[] = {RowReader<T>(in, begin, end)...};
    RowWriter<O> writer(out, begin, end);
    RowWriter<int64_t> position(positions != nullptr ? *positions : out, begin, positions != nullptr ? end : begin);
    for (int64_t i = begin; i < end; ++i) {
      [&]<size_t... k>(std::index_sequence<k...>) {
        f(writer.row(), positions != nullptr ? position.row() : nullptr, readers[k].row()...);
      }
      (std::make_index_sequence<sizeof...(L)>());
      for (RowReader<T>& reader : readers) reader.next();
      writer.next();
      if (positions != nullptr) position.next();
    }
  });
}

}  // namespace weft::kernels::cpu
