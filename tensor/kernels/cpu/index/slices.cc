#include "tensor/kernels/cpu/index/slices.h"

#include <cstdlib>
#include <cstring>

#include "tensor/kernels/cpu/index/slice_sums.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kSliceGrain = 16384;

template <class T> void copy_run(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t count) {
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  } else {
    for (int64_t j = 0; j < count; ++j) to[j * to_step] = from[j * from_step];
  }
}

/// A dense run, while the lines of the next are asked for, which may lie anywhere.
template <class T> void copy_dense_run(const T* from, T* to, int64_t count, const T* next) {
  for_lanes<T>(count, [&](int64_t j, auto lanes) {
    simd::prefetch(next + j, 0);
    put_lanes(to + j, lanes_at(from + j, lanes), lanes);
  });
}
/// Asks for the first lines of a dense run; the CPU follows from there.
template <class T> void prefetch_run(const T* p, int64_t count) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T)), kMost = 16 * kLine;
  for (int64_t j = 0; j < std::min(count, kMost); j += kLine) simd::prefetch(p + j, 0);
}

/// Slices from this size on are copied so: of shorter ones the CPU has several at work at once by itself.
constexpr int64_t kLongSlice = 1024;

NestAxis run_of(const Nest& nest) { return nest.rank > 0 ? nest.inner() : NestAxis{1, 1, 1}; }

/// f(i, offset) for each listed slice i in [begin, end), which begins at `offset` of the list.
template <class F> void for_each_offset(const Nest& list, int64_t begin, int64_t end, const F& f) {
  if (list.rank == 1) {
    const int64_t step = list.inner().out;
    for (int64_t i = begin; i < end; ++i) f(i, i * step);
    return;
  }
  NestWalk walk(list, begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) f(i, walk.out());
}

/// The same for all slices, of `size` elements each. Where a row of the table may be listed twice, each thread has rows
/// of its own and goes through the whole list, so that the last write to a row stays the last; single elements are one
/// thread's, as to ask whose each is costs more than to write it.
template <class F>
void for_listed(std::span<const int64_t> rows, const SliceLayout& layout, int64_t size, bool unique, const F& f) {
  const int64_t count = std::ssize(rows);
  if (unique)
    return parallel_for(count, std::max<int64_t>(1, kSliceGrain / size),
                        [&](int64_t begin, int64_t end) { for_each_offset(layout.list, begin, end, f); });
  if (size == 1) return for_each_offset(layout.list, 0, count, f);
  const int64_t parts = std::max<int64_t>(1, count * size / kSliceGrain);
  parallel_for(layout.table_size, std::max<int64_t>(1, layout.table_size / parts), [&](int64_t begin, int64_t end) {
    for_each_offset(layout.list, 0, count, [&](int64_t i, int64_t offset) {
      if (const int64_t row = rows[static_cast<size_t>(i)]; row >= begin && row < end) f(i, offset);
    });
  });
}

/// Where the list's slices begin.
void fill_offsets(const Nest& list, const Scratch<int64_t>& offsets, int64_t count) {
  for_each_offset(list, 0, count, [&](int64_t i, int64_t offset) { offsets.data()[i] = offset; });
}

/// Positions of the list grouped by index, in order: those of index v are order[starts[v]] to order[starts[v + 1]].
struct Groups {
  Groups(const IndexList& index, int64_t size) : starts(size + 1), order(index.count()) {
    int64_t* s = starts.data();
    std::fill_n(s, size + 1, int64_t{0});
    for (int64_t i = 0; i < index.count(); ++i) ++s[index[i]];
    int64_t total = 0;
    for (int64_t v = 0; v <= size; ++v) {
      const int64_t count = v < size ? s[v] : 0;
      s[v] = total;
      total += count;
    }
    for (int64_t i = 0; i < index.count(); ++i) order.data()[s[index[i]]++] = i;
    for (int64_t v = size; v > 0; --v) s[v] = s[v - 1];  // each start has moved to the next one's place
    s[0] = 0;
  }
  Scratch<int64_t> starts;
  Scratch<int64_t> order;
};

/// table = start, or zeros where it is undefined.
void begin_as(const Operand& start, const Operand& table) {
  if (!start.defined())
    fill(table, 0);
  else if (start.base != table.base)
    copy(start, table);
}
template <class T> void begin_run(const T* start, T* to, int64_t step, int64_t count) {
  if (start != nullptr) return copy_run(start, step, to, step, count);
  for (int64_t j = 0; j < count; ++j) to[j * step] = T{};
}

}  // namespace

void copy_slices(const Operand& table, std::span<const int64_t> index, const SliceLayout& layout, const Operand& list) {
  const int64_t count = std::ssize(index), size = layout.slice.count();
  if (count == 0 || size == 0) return;
  const NestAxis run = run_of(layout.slice);
  const Nest outer = layout.slice.outer();
  if (size == 1)
    return visit_size(table.dtype, [&]<class T>() {
      const T* from = table.data<T>();
      T* to = list.data<T>();
      parallel_for(count, kSliceGrain, [&](int64_t begin, int64_t end) {
        for_each_offset(layout.list, begin, end, [&](int64_t i, int64_t offset) {
          to[offset] = from[index[static_cast<size_t>(i)] * layout.table_stride];
        });
      });
    });
  visit_size(table.dtype, [&]<class T>() {
    const T* from = table.data<T>();
    T* to = list.data<T>();
    if (std::abs(layout.table_stride) < std::abs(run.in)) {  // neighbours in memory are neighbours of the table
      const Scratch<int64_t> offsets(count);
      fill_offsets(layout.list, offsets, count);
      parallel_for(size, std::max<int64_t>(1, kSliceGrain / count), [&](int64_t begin, int64_t end) {
        NestWalk walk(layout.slice, begin);
        for (int64_t j = begin; j < end; ++j, walk.next())
          for (int64_t i = 0; i < count; ++i)
            to[walk.out() + offsets.data()[i]] = from[walk.in() + index[static_cast<size_t>(i)] * layout.table_stride];
      });
      return;
    }
    const bool dense = run.size == size && run.in == 1 && run.out == 1;
    const bool long_slices = dense && size * static_cast<int64_t>(sizeof(T)) >= kLongSlice;
    parallel_for(count, std::max<int64_t>(1, kSliceGrain / size), [&](int64_t begin, int64_t end) {
      const auto slice = [&](int64_t i) { return from + index[static_cast<size_t>(i)] * layout.table_stride; };
      for_each_offset(layout.list, begin, end, [&](int64_t i, int64_t offset) {
        const T* source = slice(i);
        T* target = to + offset;
        if (long_slices) return copy_dense_run(source, target, size, slice(std::min(i + 1, end - 1)));
        if (dense) {
          simd::prefetch(slice(std::min(i + 4, end - 1)), 0);
          return for_lanes<T>(
              size, [&](int64_t j, auto lanes) { put_lanes(target + j, lanes_at(source + j, lanes), lanes); });
        }
        NestWalk walk(outer, 0);
        for (int64_t k = 0; k < size; k += run.size, walk.next())
          copy_run(source + walk.in(), run.in, target + walk.out(), run.out, run.size);
      });
    });
  });
}

void put_slices(const Operand& list, std::span<const int64_t> rows, std::span<const int64_t> row_offsets,
                const SliceLayout& layout, bool unique, const Operand& table) {
  const int64_t count = std::ssize(rows), size = layout.slice.count();
  if (count == 0 || size == 0) return;
  const NestAxis run = run_of(layout.slice);
  const Nest outer = layout.slice.outer();
  visit_size(table.dtype, [&]<class T>() {
    const T* from = list.data<T>();
    T* to = table.data<T>();
    const auto target_of = [&](int64_t i) { return to + row_offsets[static_cast<size_t>(i)] * layout.table_stride; };
    if (size == 1)  // lines that lie anywhere are asked for long before a store would
      return for_listed(rows, layout, 1, unique, [&](int64_t i, int64_t offset) {
        simd::prefetch(target_of(std::min(i + 32, count - 1)), 0);
        *target_of(i) = from[offset];
      });
    for_listed(rows, layout, size, unique, [&](int64_t i, int64_t offset) {
      const T* source = from + offset;
      T* target = target_of(i);
      NestWalk walk(outer, 0);
      for (int64_t k = 0; k < size; k += run.size, walk.next())
        copy_run(source + walk.out(), run.out, target + walk.in(), run.in, run.size);
    });
  });
}

void add_slices(const Operand& list, const IndexList& index, const SliceLayout& layout, int64_t skip,
                const Operand& start, const Operand& table) {
  const int64_t count = index.count(), size = layout.slice.count();
  if (size == 0) return;
  if (count == 0) return begin_as(start, table);
  const NestAxis run = run_of(layout.slice);
  const Nest outer = layout.slice.outer();
  const Groups groups(index, layout.table_size);
  const Scratch<int64_t> offsets(count);
  fill_offsets(layout.list, offsets, count);
  const int64_t mean_work = std::max<int64_t>(1, count * size / layout.table_size);
  const bool dense = run.size == size && run.in == 1 && run.out == 1;
  visit_number(table.dtype, [&]<class T>() {
    const T* from = list.data<T>();
    T* to = table.data<T>();
    const T* before = start.defined() ? start.data<T>() : nullptr;
    const auto before_at = [&](int64_t offset) { return before == nullptr ? nullptr : before + offset; };
    parallel_for(layout.table_size, std::max<int64_t>(1, kSliceGrain / mean_work), [&](int64_t begin, int64_t end) {
      for (int64_t v = begin; v < end; ++v) {
        const int64_t first = groups.starts.data()[v], members = groups.starts.data()[v + 1] - first;
        const int64_t row = v * layout.table_stride;
        NestWalk walk(outer, 0);
        if (members == 0 || v == skip) {
          for (int64_t k = 0; before != to && k < size; k += run.size, walk.next())
            begin_run(before_at(row + walk.in()), to + row + walk.in(), run.in, run.size);
          continue;
        }
        if (dense && first + members + 1 < count) {  // what the next sums read lies anywhere
          const int64_t next = groups.order.data()[first + members + 1];
          prefetch_run(from + offsets.data()[next], size);
          if (before != nullptr) prefetch_run(before + index[next] * layout.table_stride, size);
        }
        for (int64_t k = 0; k < size; k += run.size, walk.next())
          add_runs(ListedRuns<T>{from + walk.out(), offsets.data(), groups.order.data() + first}, run.out, members,
                   AsTheyAre{}, before_at(row + walk.in()), to + row + walk.in(), run.in, run.size);
      }
    });
  });
}

void add_rows(const Operand& list, const IndexList& index, const SliceLayout& layout, const Operand& start,
              const Operand& table) {
  const bool half = is_half_precision(table.dtype);
  if (layout.slice.count() != 1 || half) return add_slices(list, index, layout, -1, start, table);
  begin_as(start, table);
  visit_number(table.dtype, [&]<class T>() {
    const T* from = list.data<T>();
    T* to = table.data<T>();
    for_listed(index, layout, 1, false, [&](int64_t i, int64_t offset) {
      T& sum = to[index[i] * layout.table_stride];
      sum = static_cast<T>(sum + from[offset]);
    });
  });
}

}  // namespace weft::kernels::cpu
