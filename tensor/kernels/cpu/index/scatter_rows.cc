#include "tensor/kernels/cpu/index/scatter_rows.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

/// The first element of an operand, whatever its type.
std::byte* first_of(const Operand& x, int64_t bytes) {
  return static_cast<std::byte*>(x.base) + x.view->offset() * bytes;
}

/// Whether rows of `size` elements follow each other without gaps, in both.
bool are_dense(const Nest& rows, const Operand& from, const Operand& to, int64_t axis) {
  const int64_t size = to.size(axis);
  const NestAxis next = rows.rank == 1 ? rows.inner() : NestAxis{1, 0, 0};
  return from.stride(axis) == 1 && to.stride(axis) == 1 && next.in == size && next.out == size;
}

/// How rows begin that follow each other without gaps.
void begin_dense(const WholeRows& rows, int64_t bytes, int64_t first, int64_t count) {
  const int64_t row = rows.size * bytes;
  std::byte* const to = static_cast<std::byte*>(rows.elements) + first * row;
  if (rows.start != nullptr)
    copy_bytes(static_cast<const std::byte*>(rows.start) + first * row, to, count * row);
  else
    std::memset(to, 0, static_cast<size_t>(count * row));
}

/// Rows [begin, end) whose indices follow each other; false where an index is bad. As many together as stay in the L1
/// cache between their beginning and their use.
bool scatter_whole_rows(const Operand& src, const IndexList& list, int64_t axis, const Operand& into,
                        const ScatterLoops& loops, const RowStart& start, int64_t begin, int64_t end) {
  constexpr int64_t kTogether = 16 << 10;
  const Operand& from = start.x != nullptr ? *start.x : into;
  Nest nest = rows_of(src, axis, into), starts = rows_of(from, axis, into);
  nest.merge(), starts.merge();
  NestWalk walk(nest, begin), start_walk(starts, begin);
  RowGroup group;
  WholeRows rows;
  rows.elements = first_of(into, loops.bytes), rows.size = into.size(axis), rows.step = into.stride(axis);
  rows.values = first_of(src, loops.bytes), rows.length = src.size(axis), rows.value_step = src.stride(axis);
  rows.start = start.x != nullptr ? first_of(from, loops.bytes) : nullptr, rows.start_step = from.stride(axis);
  const bool begins = start.x != nullptr || start.zeros, dense = begins && are_dense(starts, from, into, axis);
  rows.begins = begins && !dense;
  const NestAxis next = nest.rank == 1 ? nest.inner() : NestAxis{1, 0, 0};
  const bool even = !rows.begins && rows.step == 1 && rows.value_step == 1 && next.out != 0;
  rows.elements_apart = even ? next.out : 0, rows.values_apart = next.in;
  const int64_t most = std::clamp<int64_t>(kTogether / (std::max(rows.size, rows.length) * loops.bytes), 1,
                                           even ? kTogether : RowGroup::kMost);
  for (int64_t i = begin, count = 0; i < end; i += count) {
    count = std::min(most, end - i);
    const int64_t* const index = list.data() + i * rows.length;
    if (start.checks && !IndexList::all_below(index, count * rows.length, rows.size)) return false;
    if (dense) begin_dense(rows, loops.bytes, i, count);
    group.in[0] = i * next.in, group.out[0] = i * next.out;
    for (int64_t k = 0; !even && k < count; ++k, walk.next(), start_walk.next()) {
      group.in[k] = walk.in();
      group.out[k] = walk.out();
      rows.starts[k] = start_walk.in();
    }
    loops.rows(rows, group, index, count);
  }
  return true;
}

/// Rows [begin, end) that follow each other in the list, `apart` of them, and advance together. False where an index is
/// bad: as many are checked together as stay in the L1 cache.
bool scatter_bands(const Operand& src, const IndexList& list, int64_t axis, const Operand& into,
                   const ScatterLoops& loops, bool checks, int64_t apart, int64_t begin, int64_t end) {
  constexpr int64_t kTogether = 1024;
  RowGroup group;
  const Nest rows = rows_of(src, axis, into);
  const int64_t length = src.size(axis), size = into.size(axis);
  RowBand band{first_of(into, loops.bytes), into.stride(axis), first_of(src, loops.bytes), src.stride(axis), apart, 0};
  for (int64_t row = begin; row < end; row += band.count) {
    const int64_t first = row % apart;
    band.count = std::min({RowGroup::kMost, apart - first, end - row});
    NestWalk walk(rows, row);
    for (int64_t k = 0; k < band.count; ++k, walk.next()) {
      group.in[k] = walk.in();
      group.out[k] = walk.out();
    }
    const int64_t* index = list.data() + row / apart * length * apart + first;
    const int64_t most = kTogether / band.count;
    for (int64_t j = 0; j < length; j += most, index += most * apart) {
      const int64_t stop = std::min(length, j + most);
      for (int64_t i = j; checks && i < stop; ++i)
        if (!IndexList::all_below(index + (i - j) * apart, band.count, size)) return false;
      loops.band(band, group, index, j, stop);
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
  int64_t apart = 1;
  for (int64_t i = axis + 1; i < src.rank(); ++i) apart *= src.size(i);
  const int64_t length = src.size(axis);
  std::atomic<bool> bad = false;
  const int64_t bands = apart == 0 || length == 0 ? 0 : list.count() / (apart * length);
  parallel_for(
      bands * apart, std::max<int64_t>(1, kIndexGrain / std::max<int64_t>(1, length)), [&](int64_t begin, int64_t end) {
        const bool good = apart == 1 ? scatter_whole_rows(src, list, axis, into, loops, start, begin, end)
                                     : scatter_bands(src, list, axis, into, loops, start.checks, apart, begin, end);
        if (!good) bad = true;
      });
  if (bad) list.check(into.size(axis));
}

void scatter_slices(const Operand& src, const IndexList& rows, const SliceLayout& layout, const Operand& into,
                    const ScatterLoops& loops) {
  if (src.numel() == 0) return;
  const NestAxis run = layout.slice.rank > 0 ? layout.slice.inner() : NestAxis{1, 1, 1};
  const Nest outer = layout.slice.outer();
  const int64_t size = layout.slice.count(), parts = std::max<int64_t>(1, rows.count() * size / kIndexGrain);
  const int64_t bytes = loops.bytes;
  std::byte* const elements = first_of(into, bytes);
  const std::byte* const values = first_of(src, bytes);
  parallel_for(layout.table_size, std::max<int64_t>(1, layout.table_size / parts), [&](int64_t begin, int64_t end) {
    NestWalk slice(layout.list, 0);
    for (int64_t i = 0; i < rows.count(); ++i, slice.next()) {
      if (rows[i] < begin || rows[i] >= end) continue;
      std::byte* const target = elements + (slice.in() + rows[i] * layout.table_stride) * bytes;
      const std::byte* const source = values + slice.out() * bytes;
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
