// The lines of a scan's operands, and the loops over them that are compiled for types alone: interleaved lines
// together, short ones in tiles that are transposed, and line by line.
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
  /// Whether neighbors are interleaved in runs of memory, which are the same distance apart.
  bool is_interleaved() const {
    return outer.rank == 2 && inner.rank == 1 && neighbors().in == 1 && step == neighbors().size;
  }
  /// How far a line, or with more than one line a run of interleaved ones, is from the next.
  int64_t distance(int64_t interleaved) const { return interleaved == 1 ? neighbors().in : outer.axes[0].in; }
  int64_t step;
};

/// The first elements of lines, one after the other.
template <class T> class LineWalk {
 public:
  LineWalk(const Lines& lines, int64_t first)
      : lines_(lines),
        line_(first),
        next_(first - first % lines.neighbors().size + lines.neighbors().size),
        is_even_(lines.is_even()),
        at_(lines.at<T>(first)) {}
  T* next() {
    T* at = at_;
    ++line_;
    if (is_even_ || line_ < next_) {
      at_ += lines_.neighbors().in;
    } else if (line_ < lines_.count()) {
      at_ = lines_.at<T>(line_);
      next_ += lines_.neighbors().size;
    }
    return at;
  }
  int64_t step() const { return lines_.step; }

 private:
  const Lines& lines_;
  int64_t line_;
  int64_t next_;  // the first line of the next run of neighbors
  bool is_even_;
  T* at_;
};

/// The lines of a scan's operands.
template <size_t N> struct ScanLines {
  Lines out, positions;  // those of `out` again where the scan has no positions
  bool has_positions;
  std::array<Lines, N> in;

  template <class F> bool all(const F& holds) const {
    return holds(out) && holds(positions) && std::all_of(in.begin(), in.end(), holds);
  }
  int64_t* positions_at(int64_t line) const { return has_positions ? positions.at<int64_t>(line) : nullptr; }
  /// Whether at least `fewest` lines of all operands are interleaved, one element apart.
  bool are_neighbors(int64_t fewest) const {
    const int64_t size = out.neighbors().size;
    return size >= fewest && all([=](const Lines& x) { return x.neighbors().size == size && x.neighbors().in == 1; });
  }
  /// Whether so many lines of all operands as are interleaved are a run of memory.
  bool are_interleaved() const {
    const int64_t size = out.neighbors().size;
    return all([=](const Lines& x) { return x.is_interleaved() && x.neighbors().size == size; });
  }
  /// Whether lines are the same distance apart, and the results and positions runs of memory.
  bool are_even_runs() const {
    return out.is_run() && positions.is_run() && all([](const Lines& x) { return x.is_even(); });
  }
};

/// Lines [0, count) that start at out, positions (null where the scan has none) and in; steps lead along the lines.
template <class T, class O, size_t N> struct Band {
  int64_t length, count;
  O* out;
  int64_t* positions;
  std::array<const T*, N> in;
  int64_t out_step, position_step;
  std::array<int64_t, N> in_steps;
};

/// What an Op does, for loops over lines that are compiled for types alone: with a band, and with a line that is dense.
template <class T, class O, size_t N> struct ScanLoops {
  void (*band)(const Band<T, O, N>& band);
  void (*line)(int64_t length, Compute<O>* out, int64_t* positions, const std::array<const Compute<T>*, N>& in);
};

/// Scans all lines of a band together.
template <class Op, class T, class O, size_t N> class BandScan {
 public:
  static void run(const Band<T, O, N>& band) { BandScan(band).scan(); }

 private:
  explicit BandScan(const Band<T, O, N>& band) : band_(band), in_(band.in) {}

  void scan() {
    typename Op::State states[kScanLines];
    for (int64_t j = 0; j < band_.count; ++j) states[j] = Op::start();
    if constexpr (is_half<T>) {
      // Rows that follow each other in memory are widened and narrowed together.
      const int64_t together = rows_follow() ? kScanLines / band_.count : 1;
      for (int64_t i = 0; i < band_.length; i += together)
        scan_widened(states, i, std::min(together, band_.length - i));
    } else {
      for (int64_t i = 0; i < band_.length; ++i) {
        [&]<size_t... k>(std::index_sequence<k...>) { step(states, i, in_[k]...); }
        (std::make_index_sequence<N>());
        put(states, i, band_.out + i * band_.out_step);
        for (size_t k = 0; k < N; ++k) in_[k] += band_.in_steps[k];
      }
    }
  }
  bool rows_follow() const {
    const auto follows = [&](int64_t step) { return step == band_.count; };
    return follows(band_.out_step) && std::all_of(band_.in_steps.begin(), band_.in_steps.end(), follows);
  }
  void scan_widened(typename Op::State* states, int64_t first, int64_t rows) {
    Compute<T> in[N][kScanLines], out[kScanLines];
    for (size_t k = 0; k < N; ++k) {
      widen(in_[k], in[k], rows * band_.count);
      in_[k] += rows * band_.in_steps[k];
    }
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = i * band_.count;
      [&]<size_t... k>(std::index_sequence<k...>) { step(states, first + i, in[k] + at...); }
      (std::make_index_sequence<N>());
      put(states, first + i, out + at);
    }
    narrow(out, band_.out + first * band_.out_step, rows * band_.count);
  }
  template <class... P> void step(typename Op::State* states, int64_t i, const P*... from) const {
    for (int64_t j = 0, count = band_.count; j < count; ++j) Op::step(states[j], i, from[j]...);
  }
  template <class R> void put(const typename Op::State* states, int64_t i, R* to) const {
    const int64_t count = band_.count;  // not read again after each write: an i64 that is written may be any
    for (int64_t j = 0; j < count; ++j) to[j] = static_cast<R>(Op::value(states[j]));
    if constexpr (requires { states[0].position; }) {
      int64_t* const positions = band_.positions + i * band_.position_step;
      for (int64_t j = 0; j < count; ++j) positions[j] = states[j].position;
    }
  }

  const Band<T, O, N> band_;  // a copy: what is written may not be part of it
  std::array<const T*, N> in_;
};

/// Scans lines of are_even_runs() as if they were interleaved, in tiles that are transposed on the way in and out: so
/// several lines advance in one register, whatever their length. Where some are interleaved (are_interleaved()), tiles
/// have whole runs of them.
template <class T, class O, size_t N>
void scan_in_tiles(const ScanLoops<T, O, N>& loops, int64_t length, const ScanLines<N>& lines, int64_t interleaved) {
  constexpr int64_t kTile = 2048;  // elements: a tile of each operand stays in the L2 cache
  const int64_t run = interleaved * length, runs = lines.out.count() / interleaved;
  const int64_t width = std::min(std::max<int64_t>(16, kTile / run / 16 * 16), kScanLines / interleaved);
  parallel_for(ceil_div(runs, width), std::max<int64_t>(1, 32768 / (width * run)), [&](int64_t tile, int64_t end) {
    const Scratch<T> values(static_cast<int64_t>(N) * width * run);
    const Scratch<O> results(width * run);
    const Scratch<int64_t> places(lines.has_positions ? width * run : 0);
    for (; tile < end; ++tile) {
      const int64_t line = tile * width * interleaved, some = std::min(width, runs - tile * width);
      const int64_t count = some * interleaved;
      Band<T, O, N> band{length, count, results.data(), places.data(), {}, count, count, {}};
      for (size_t k = 0; k < N; ++k) {
        const Lines& x = lines.in[k];
        T* to = values.data() + static_cast<int64_t>(k) * width * run;
        to_columns<T>(x.template at<const T>(line), x.distance(interleaved), interleaved == 1 ? x.step : 1, to, some,
                      some, run);
        band.in[k] = to, band.in_steps[k] = count;
      }
      loops.band(band);
      to_columns<O>(results.data(), some, 1, lines.out.template at<O>(line), lines.out.distance(interleaved), run,
                    some);
      if (lines.has_positions)
        to_columns<int64_t>(places.data(), some, 1, lines.positions_at(line), lines.positions.distance(interleaved),
                            run, some);
    }
  });
}

/// Scans interleaved lines: elements of the same index are adjacent in memory, and are computed together.
template <class T, class O, size_t N>
void scan_neighbors(const ScanLoops<T, O, N>& loops, int64_t length, const ScanLines<N>& lines) {
  const Lines& out = lines.out;
  const int64_t size = out.neighbors().size, width = std::min(size, kScanLines);
  const int64_t groups = ceil_div(size, width), bands = out.count() / size;
  parallel_for(bands * groups, std::max<int64_t>(1, 32768 / (width * length)), [&](int64_t g, int64_t end) {
    for (; g < end; ++g) {
      const int64_t skipped = g % groups * width, line = g / groups * size + skipped;
      Band<T, O, N> band{length,
                         std::min(width, size - skipped),
                         out.at<O>(line),
                         lines.positions_at(line),
                         {},
                         out.step,
                         lines.positions.step,
                         {}};
      for (size_t k = 0; k < N; ++k)
        band.in[k] = lines.in[k].template at<const T>(line), band.in_steps[k] = lines.in[k].step;
      loops.band(band);
    }
  });
}

/// Scans lines one by one. A few long ones come one after the other, with all threads left to each.
template <class T, class O, size_t N>
void scan_each_line(const ScanLoops<T, O, N>& loops, int64_t length, const ScanLines<N>& lines) {
  const int64_t count = lines.out.count();
  const bool one_by_one = length >= 8 * kScanBlock && count < region_threads();
  parallel_for(count, one_by_one ? count : row_grain(length), [&](int64_t begin, int64_t end) {
    [&]<size_t... k>(std::index_sequence<k...>) {
      RowReader<T> readers[] = {RowReader<T>(lines.in[k], begin, end)...};
      RowWriter<O> writer(lines.out, begin, end);
      RowWriter<int64_t> position(lines.positions, begin, lines.has_positions ? end : begin);
      for (int64_t i = begin; i < end; ++i) {
        loops.line(length, writer.row(), lines.has_positions ? position.row() : nullptr, {readers[k].row()...});
        for (RowReader<T>& reader : readers) reader.next();
        writer.next();
        if (lines.has_positions) position.next();
      }
    }
    (std::make_index_sequence<N>());
  });
}

}  // namespace weft::kernels::cpu
