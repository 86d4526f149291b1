// The lines of a scan's operands, and the loops over them, which are compiled once for all types: interleaved lines
// together, short ones in tiles that are transposed, a few at a time, and line by line.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/loops/rows.h"

namespace weft::kernels::cpu {

/// Lines that advance together.
inline constexpr int64_t kScanLines = 256;
/// Elements of a line that are summed before anything else is added.
inline constexpr int64_t kScanBlock = 8192;
/// The most operands that a scan reads.
inline constexpr int kScanInputs = 2;

/// The lines of an operand along `axis`, in the order in which they lie in `like`.
struct Lines : RowView {
  Lines(const Operand& x, int64_t axis, const Operand& like)
      : RowView(x, axis, like),
        step(inner.rank > 0 ? inner.inner().in : 0),
        size(static_cast<int64_t>(size_of(x.dtype))),
        element(RowCursor::element_of(x.dtype)) {}
  /// The first element of a line.
  char* at(int64_t line) const {
    const int64_t place = is_even() ? line * neighbors().in : NestWalk(outer, line).in();
    return static_cast<char*>(base) + (offset + place) * size;
  }
  /// Whether a line's elements follow each other.
  bool is_run() const { return inner.rank == 0 || (inner.rank == 1 && step == 1); }
  /// Whether the lines are the same distance apart.
  bool is_even() const { return outer.rank <= 1; }
  /// By reference: g++ copies an axis in pieces of 16 bytes, which wait for the stores of 8 that are not done yet.
  const NestAxis& neighbors() const {
    static constexpr NestAxis kAlone{1, 0, 0};
    return outer.rank > 0 ? outer.inner() : kAlone;
  }
  /// Whether neighbors are interleaved in runs of memory, which are the same distance apart.
  bool is_interleaved() const {
    return outer.rank == 2 && inner.rank == 1 && neighbors().in == 1 && step == neighbors().size;
  }
  /// How far a line, or with more than one line a run of interleaved ones, is from the next.
  int64_t distance(int64_t interleaved) const { return interleaved == 1 ? neighbors().in : outer.axes[0].in; }
  int64_t step;
  int64_t size;  // bytes of an element
  RowCursor::Element element;
};

/// The lines of a scan's operands.
struct ScanLines {
  const Lines& out;
  const Lines* positions;  // null where the scan has none
  const Lines& x;
  const Lines* y;  // null where there is one input

  int inputs() const { return y != nullptr ? 2 : 1; }
  const Lines& in(int k) const { return k == 0 ? x : *y; }
  template <class F> bool all(const F& holds) const {
    return holds(out) && holds(x) && (positions == nullptr || holds(*positions)) && (y == nullptr || holds(*y));
  }
  int64_t* positions_at(int64_t line) const {
    return positions != nullptr ? reinterpret_cast<int64_t*>(positions->at(line)) : nullptr;
  }
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
    return out.is_run() && (positions == nullptr || positions->is_run()) &&
           all([](const Lines& x) { return x.is_even(); });
  }
};

/// Lines [0, count) that start at out, positions (null where the scan has none) and in; steps lead along the lines.
struct Band {
  int64_t length, count;
  void* out;
  int64_t* positions;
  const void* in[kScanInputs];
  int64_t out_step, position_step;
  int64_t in_steps[kScanInputs];
};

/// Some lines anywhere. Elements of one line are `step` apart.
struct LineBatch {
  static constexpr int64_t kMost = 64;
  struct Side {
    /// Lines [line, line + count).
    void fill(const Lines& lines, int64_t line, int64_t count);
    void* first[kMost];  // the first element of each line
    int64_t step;
  };
  int64_t length, count;
  Side out, positions, in[kScanInputs];
};

/// What an op does, for loops over lines that are compiled once.
struct ScanLoops {
  void (*band)(const Band& band);
  void (*batch)(const LineBatch& batch);
  /// A line of values as they are computed (f32 for halves) that follow each other.
  void (*line)(int64_t length, void* out, int64_t* positions, void* const* in);
};

/// Scans lines of are_even_runs() as if they were interleaved, in tiles that are transposed on the way in and out: so
/// several lines advance in one register, whatever their length. Where some are interleaved (are_interleaved()), tiles
/// have whole runs of them.
void scan_in_tiles(const ScanLoops& loops, int64_t length, const ScanLines& lines, int64_t interleaved);
/// Scans interleaved lines: elements of the same index are adjacent in memory, and are computed together.
void scan_neighbors(const ScanLoops& loops, int64_t length, const ScanLines& lines);
/// Scans any lines by loops.batch, which takes a few at a time.
void scan_in_batches(const ScanLoops& loops, int64_t length, const ScanLines& lines);
/// Scans lines one by one. A few long ones come one after the other, with all threads left to each.
void scan_each_line(const ScanLoops& loops, int64_t length, const ScanLines& lines);

}  // namespace weft::kernels::cpu
