#include "tensor/kernels/cpu/index/scatter_rows.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

/// The arguments of scatter_rows().
struct RowScatter {
  const Operand& src;
  const IndexList& list;
  int64_t axis;
  const Operand& into;
  const ScatterLoops& loops;
  const RowStart& start;

  /// The tensor whose values the rows start with: x if it is given, otherwise `into` itself.
  const Operand& beginning() const { return start.x != nullptr ? *start.x : into; }
};

/// Whether all rows are contiguous and adjacent in both tensors.
bool are_dense(const Nest& rows, const Operand& from, const Operand& to, int64_t axis) {
  const int64_t size = to.size(axis);
  const NestAxis next = rows.rank == 1 ? rows.inner() : NestAxis{1, 0, 0};
  return from.stride(axis) == 1 && to.stride(axis) == 1 && next.in == size && next.out == size;
}

/// Gives `count` dense rows their start values: those of x, or zeros.
void begin_dense(const WholeRows& rows, int64_t bytes, int64_t first, int64_t count) {
  const int64_t row = rows.size * bytes;
  char* const to = static_cast<char*>(rows.elements) + first * row;
  if (rows.start != nullptr)
    copy_bytes(static_cast<const char*>(rows.start) + first * row, to, count * row);
  else
    std::memset(to, 0, static_cast<size_t>(count * row));
}

/// What all rows have in common. `begins`: the loops give each row its start values.
WholeRows whole_rows_of(const RowScatter& s, bool begins) {
  WholeRows rows;
  rows.elements = s.into.first();
  rows.size = s.into.size(s.axis);
  rows.step = s.into.stride(s.axis);
  rows.values = s.src.first();
  rows.length = s.src.size(s.axis);
  rows.value_step = s.src.stride(s.axis);
  rows.row_step = rows.value_row_step = 0;
  rows.begins = begins;
  rows.start = s.start.x != nullptr ? s.start.x->first() : nullptr;
  rows.start_step = s.beginning().stride(s.axis);
  return rows;
}

/// Rows [begin, end), for an index whose rows are contiguous. False if an index is out of range. Rows get their start
/// values a few at a time, so that they are still in the L1 cache when they are used.
bool scatter_whole_rows(const RowScatter& s, int64_t begin, int64_t end) {
  constexpr int64_t kTogether = 16 << 10;  // bytes
  const int64_t bytes = s.loops.bytes;
  Nest nest = rows_of(s.src, s.axis, s.into), starts = rows_of(s.beginning(), s.axis, s.into);
  nest.merge();
  starts.merge();
  const bool begins = s.start.x != nullptr || s.start.zeros;
  const bool dense = begins && are_dense(starts, s.beginning(), s.into, s.axis);
  WholeRows rows = whole_rows_of(s, begins && !dense);
  const NestAxis next = nest.rank == 1 ? nest.inner() : NestAxis{1, 0, 0};
  const bool even = !rows.begins && rows.step == 1 && rows.value_step == 1 && next.out != 0;
  if (even) rows.row_step = next.out, rows.value_row_step = next.in;
  const int64_t most = std::clamp<int64_t>(kTogether / (std::max(rows.size, rows.length) * bytes), 1,
                                           even ? kTogether : RowOffsets::kMost);
  RowOffsets offsets;
  NestWalk walk(nest, begin), start_walk(starts, begin);
  for (int64_t i = begin, count = 0; i < end; i += count) {
    count = std::min(most, end - i);
    const int64_t* const index = s.list.data() + i * rows.length;
    if (s.start.checks && !IndexList::all_below(index, count * rows.length, rows.size)) return false;
    if (dense) begin_dense(rows, bytes, i, count);
    if (even) offsets.in[0] = i * next.in, offsets.out[0] = i * next.out;
    for (int64_t k = 0; !even && k < count; ++k, walk.next(), start_walk.next()) {
      offsets.in[k] = walk.in();
      offsets.out[k] = walk.out();
      rows.starts[k] = start_walk.in();
    }
    s.loops.rows(rows, offsets, index, count);
  }
  return true;
}

/// Rows [begin, end), for an index in which the entries of `interleaved` rows alternate; these rows are processed
/// together. False if an index is out of range. Indices are checked a few at a time, so that they are still in the L1
/// cache when they are used.
bool scatter_bands(const RowScatter& s, int64_t interleaved, int64_t begin, int64_t end) {
  constexpr int64_t kTogether = 1024;
  RowOffsets offsets;
  const Nest rows = rows_of(s.src, s.axis, s.into);
  const int64_t length = s.src.size(s.axis), size = s.into.size(s.axis);
  RowBand band{s.into.first(), s.into.stride(s.axis), s.src.first(), s.src.stride(s.axis), interleaved, 0};
  for (int64_t row = begin; row < end; row += band.count) {
    const int64_t first = row % interleaved;
    band.count = std::min({RowOffsets::kMost, interleaved - first, end - row});
    NestWalk walk(rows, row);
    for (int64_t k = 0; k < band.count; ++k, walk.next()) {
      offsets.in[k] = walk.in();
      offsets.out[k] = walk.out();
    }
    const int64_t* index = s.list.data() + row / interleaved * length * interleaved + first;
    const int64_t most = kTogether / band.count;
    for (int64_t j = 0; j < length; j += most, index += most * interleaved) {
      const int64_t stop = std::min(length, j + most);
      for (int64_t i = j; s.start.checks && i < stop; ++i)
        if (!IndexList::all_below(index + (i - j) * interleaved, band.count, size)) return false;
      s.loops.band(band, offsets, index, j, stop);
    }
  }
  return true;
}

}  // namespace

bool starts_rows(const Operand& src, int64_t axis, const Operand& into) {
  if (axis != src.rank() - 1 || src.size(axis) == 0) return false;
  for (int64_t i = 0; i < axis; ++i) {
    const bool across = into.size(i) > 1 && std::abs(into.stride(i)) < std::abs(into.stride(axis));
    if (src.size(i) != into.size(i) || across) return false;
  }
  return true;
}

Nest rows_of(const Operand& src, int64_t axis, const Operand& into) {
  Nest rows;
  for (int64_t i = 0; i < src.rank(); ++i)
    if (i != axis) rows.push({src.size(i), src.stride(i), into.stride(i)});
  return rows;
}

void scatter_rows(const Operand& src, const IndexList& list, int64_t axis, const Operand& into,
                  const ScatterLoops& loops, const RowStart& start) {
  const RowScatter all{src, list, axis, into, loops, start};
  int64_t interleaved = 1;  // the number of rows whose entries alternate in the index
  for (int64_t i = axis + 1; i < src.rank(); ++i) interleaved *= src.size(i);
  const int64_t length = src.size(axis);
  std::atomic<bool> bad = false;
  const int64_t rows = interleaved == 0 || length == 0 ? 0 : list.count() / length;
  parallel_for(rows, std::max<int64_t>(1, kIndexGrain / std::max<int64_t>(1, length)), [&](int64_t begin, int64_t end) {
    const bool good =
        interleaved == 1 ? scatter_whole_rows(all, begin, end) : scatter_bands(all, interleaved, begin, end);
    if (!good) bad = true;
  });
  if (bad) list.check(into.size(axis));
}

void scatter_slices(const Operand& src, const IndexList& rows, const SliceLayout& layout, const Operand& into,
                    const ScatterLoops& loops) {
  if (src.numel() == 0) return;
  const NestAxis run = layout.slice.run();
  const Nest outer = layout.slice.outer();
  const int64_t size = layout.slice.count(), parts = std::max<int64_t>(1, rows.count() * size / kIndexGrain);
  const int64_t bytes = loops.bytes;
  char* const elements = into.first();
  const char* const values = src.first();
  parallel_for(layout.table_size, std::max<int64_t>(1, layout.table_size / parts), [&](int64_t begin, int64_t end) {
    NestWalk slice(layout.list, 0);
    for (int64_t i = 0; i < rows.count(); ++i, slice.next()) {
      if (rows[i] < begin || rows[i] >= end) continue;
      char* const target = elements + (slice.in() + rows[i] * layout.table_stride) * bytes;
      const char* const source = values + slice.out() * bytes;
      if (outer.rank == 0) {
        loops.run(target, run.in, run.size, source, run.out);
        continue;
      }
      NestWalk walk(outer, 0);
      for (int64_t k = 0; k < size; k += run.size, walk.next())
        loops.run(target + walk.in() * bytes, run.in, run.size, source + walk.out() * bytes, run.out);
    }
  });
}

}  // namespace weft::kernels::cpu
