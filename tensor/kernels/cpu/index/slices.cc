#include "tensor/kernels/cpu/index/slices.h"

#include <bit>
#include <cstdlib>
#include <cstring>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/index/row_groups.h"
#include "tensor/kernels/cpu/index/slice_sums.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kSliceGrain = 16384;

/// copy_bytes(), up to 32 bytes without a call: two pieces, which may overlap.
inline void copy_few_bytes(const void* from, void* to, int64_t bytes) {
  const auto pieces = [=]<class Piece>(Piece first) {
    const int64_t second = bytes - static_cast<int64_t>(sizeof first);
    Piece last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, static_cast<const char*>(from) + second, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(static_cast<char*>(to) + second, &last, sizeof last);
  };
  if (bytes > 32) return copy_bytes(from, to, bytes);
  if (bytes >= 16) return pieces(simd::Vec<uint64_t, 2>{});
  if (bytes >= 8) return pieces(uint64_t{});
  if (bytes >= 4) return pieces(uint32_t{});
  if (bytes >= 2) return pieces(uint16_t{});
  if (bytes == 1) pieces(uint8_t{});
}

template <class T> void copy_run(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t count) {
  if (from_step == 1 && to_step == 1) {
    copy_bytes(from, to, count * static_cast<int64_t>(sizeof(T)));
  } else {
    for (int64_t j = 0; j < count; ++j) to[j * to_step] = from[j * from_step];
  }
}

/// Copies a dense run and meanwhile prefetches the cache lines of the next, which may lie anywhere.
template <class T> void copy_dense_run(const T* from, T* to, int64_t count, const T* next) {
  for_lanes<T>(count, [&](int64_t j, auto lanes) {
    simd::prefetch(next + j, 0);
    put_lanes(to + j, lanes_at(from + j, lanes), lanes);
  });
}
/// Prefetches the first cache lines of a dense run; the hardware prefetcher follows from there.
template <class T> void prefetch_run(const T* p, int64_t count) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T)), kMost = 16 * kLine;
  for (int64_t j = 0; j < std::min(count, kMost); j += kLine) simd::prefetch(p + j, 0);
}

/// Slices of this many bytes and more are copied by copy_dense_run(); of shorter ones the CPU works on several at once
/// by itself.
constexpr int64_t kLongSlice = 1024;

NestAxis run_of(const Nest& nest) { return nest.rank > 0 ? nest.inner() : NestAxis{1, 1, 1}; }

/// Where a slice begins: in the list, and in the table without what its index adds.
struct SliceStart {
  int64_t list, table;
};

/// f(i, at) for each listed slice i in [begin, end). Inlined, so that what f captures by value stays in registers: a
/// byte that f writes may be any variable's.
template <class F> WEFT_SIMD void for_each_start(const Nest& list, int64_t begin, int64_t end, const F& f) {
  if (list.rank == 1 && list.inner().in == 0) {
    const int64_t step = list.inner().out;
    for (int64_t i = begin; i < end; ++i) f(i, SliceStart{i * step, 0});
    return;
  }
  NestWalk walk(list, begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) f(i, SliceStart{walk.out(), walk.in()});
}

/// Whether elements that are adjacent in memory are adjacent along the table's axis, not in a slice.
bool lies_across(const SliceLayout& layout) {
  constexpr int64_t kFew = 4, kLong = 64;  // slices, of which each is gone through by itself
  const NestAxis run = run_of(layout.slice);
  if (layout.list.count() <= kFew && run.size > kLong) return false;
  if (layout.list.rank == 1 && std::abs(layout.list.inner().out) > std::abs(run.out)) return false;  // not in the list
  return std::abs(layout.table_stride) < std::abs(run.in);
}

/// f(in, out) for each element of a slice, by where it lies in a slice of the table and of the list; all listed slices
/// are `work` elements.
template <class F> void for_elements(const SliceLayout& layout, int64_t work, const F& f) {
  parallel_for(layout.slice.count(), std::max<int64_t>(1, kSliceGrain / work), [&](int64_t begin, int64_t end) {
    NestWalk walk(layout.slice, begin);
    for (int64_t j = begin; j < end; ++j, walk.next()) f(walk.in(), walk.out());
  });
}

/// The same for all slices, of `size` elements each. Where a row of the table may be listed twice, each thread has rows
/// of its own and goes through the whole list, so that the last write to a row stays the last; single elements are one
/// thread's, as to ask whose each is costs more than to write it.
template <class F>
void for_listed(std::span<const int64_t> rows, const SliceLayout& layout, int64_t size, bool unique, const F& f) {
  const int64_t count = std::ssize(rows);
  if (unique)
    return parallel_for(count, std::max<int64_t>(1, kSliceGrain / size),
                        [&](int64_t begin, int64_t end) { for_each_start(layout.list, begin, end, f); });
  if (size == 1) return for_each_start(layout.list, 0, count, f);
  const int64_t parts = std::max<int64_t>(1, count * size / kSliceGrain);
  parallel_for(layout.table_size, std::max<int64_t>(1, layout.table_size / parts), [&](int64_t begin, int64_t end) {
    for_each_start(layout.list, 0, count, [&](int64_t i, const SliceStart& at) {
      if (const int64_t row = rows[static_cast<size_t>(i)]; row >= begin && row < end) f(i, at);
    });
  });
}

/// Where the list's slices begin.
void fill_offsets(const Nest& list, const Scratch<int64_t>& offsets, int64_t count) {
  for_each_start(list, 0, count, [&](int64_t i, const SliceStart& at) { offsets.data()[i] = at.list; });
}

/// Whether few rows of the table are listed.
bool is_sparse(int64_t count, const SliceLayout& layout) {
  constexpr int64_t kFew = 8;  // one of so many
  return count < layout.table_size / kFew;
}

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

/// copy_slices() of slices of one element.
void copy_elements(const Operand& table, std::span<const int64_t> index, const SliceLayout& layout,
                   const Operand& list) {
  visit_size(table.dtype, [&]<class T>() {
    const T* from = table.data<T>();
    T* to = list.data<T>();
    const int64_t* const rows = index.data();
    parallel_for(std::ssize(index), kSliceGrain, [&, from, to, rows](int64_t begin, int64_t end) {
      const auto copy_one = [from, to, rows, step = layout.table_stride](int64_t i, const SliceStart& at) {
        to[at.list] = from[at.table + rows[i] * step];
      };
      for_each_start(layout.list, begin, end, copy_one);
    });
  });
}

}  // namespace

void copy_slices(const Operand& table, std::span<const int64_t> index, const SliceLayout& layout, const Operand& list) {
  const int64_t count = std::ssize(index), size = layout.slice.count();
  if (count == 0 || size == 0) return;
  const NestAxis run = run_of(layout.slice);
  const Nest outer = layout.slice.outer();
  if (size == 1) return copy_elements(table, index, layout, list);
  visit_size(table.dtype, [&]<class T>() {
    const T* from = table.data<T>();
    T* to = list.data<T>();
    if (lies_across(layout)) {
      const Scratch<int64_t> list_offsets(count), table_offsets(count);
      for_each_start(layout.list, 0, count, [&](int64_t i, const SliceStart& at) {
        list_offsets.data()[i] = at.list;
        table_offsets.data()[i] = at.table + index[static_cast<size_t>(i)] * layout.table_stride;
      });
      const bool neighbors = layout.list.rank == 1 && layout.list.inner().out == 1;
      return for_elements(layout, count, [&](int64_t in, int64_t out) {
        T* const target = to + out;  // copies: a byte that is written may be any variable's
        const T* const source = from + in;
        const int64_t *const list_offset = list_offsets.data(), *const table_offset = table_offsets.data();
        if (neighbors)
          for (int64_t i = 0, n = count; i < n; ++i) target[i] = source[table_offset[i]];
        else
          for (int64_t i = 0, n = count; i < n; ++i) target[list_offset[i]] = source[table_offset[i]];
      });
    }
    const bool dense = run.size == size && run.in == 1 && run.out == 1;
    const bool long_slices = dense && size * static_cast<int64_t>(sizeof(T)) >= kLongSlice;
    parallel_for(count, std::max<int64_t>(1, kSliceGrain / size), [&, from, to, size](int64_t begin, int64_t end) {
      const auto slice = [from, rows = index.data(), step = layout.table_stride](int64_t i) {
        return from + rows[i] * step;
      };
      const auto copy_dense = [=](int64_t i, const SliceStart& at) {
        const T* source = slice(i) + at.table;
        T* target = to + at.list;
        if (long_slices) return copy_dense_run(source, target, size, slice(std::min(i + 1, end - 1)) + at.table);
        simd::prefetch(slice(std::min(i + 4, end - 1)) + at.table, 0);
        if constexpr (sizeof(T) < sizeof(float))
          return copy_few_bytes(source, target, size * static_cast<int64_t>(sizeof(T)));
        for_lanes<T>(size, [=](int64_t j, auto lanes) { put_lanes(target + j, lanes_at(source + j, lanes), lanes); });
      };
      if (dense) return for_each_start(layout.list, begin, end, copy_dense);
      for_each_start(layout.list, begin, end, [&](int64_t i, const SliceStart& at) {
        const T* source = slice(i) + at.table;
        T* target = to + at.list;
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
    const auto target_of = [&](int64_t i, const SliceStart& at) {
      return to + at.table + row_offsets[static_cast<size_t>(i)] * layout.table_stride;
    };
    if (size == 1) {
      const auto put = [&](int64_t i, const SliceStart& at) { *target_of(i, at) = from[at.list]; };
      // Lines of a large table are prefetched long before the store. (Where they are in the cache, a prefetch takes
      // longer than the store: 3.6 ns on a Zen 4.)
      constexpr int64_t kLarge = 8 << 20;
      if (layout.table_size * static_cast<int64_t>(sizeof(T)) < kLarge) return for_listed(rows, layout, 1, unique, put);
      return for_listed(rows, layout, 1, unique, [&](int64_t i, const SliceStart& at) {
        simd::prefetch(target_of(std::min(i + 32, count - 1), at), 0);
        put(i, at);
      });
    }
    if (lies_across(layout))
      return for_elements(layout, count, [&](int64_t in, int64_t out) {
        T* const target = to + in;  // copies: a byte that is written may be any variable's
        const T* const source = from + out;
        const int64_t *const offset = row_offsets.data(), step = layout.table_stride,
                             list_step = layout.list.inner().out;
        for (int64_t i = 0, n = count; i < n; ++i) target[offset[i] * step] = source[i * list_step];
      });
    for_listed(rows, layout, size, unique, [&](int64_t i, const SliceStart& at) {
      const T* source = from + at.list;
      T* target = target_of(i, at);
      NestWalk walk(outer, 0);
      for (int64_t k = 0; k < size; k += run.size, walk.next())
        copy_run(source + walk.out(), run.out, target + walk.in(), run.in, run.size);
    });
  });
}

namespace {

/// One element of each listed slice, which lie list_step apart, is added to a row of the table, in order, in Sum.
template <class Sum, class T>
void add_along_row(const T* list, std::span<const int64_t> row_offsets, const SliceLayout& layout, T* to) {
  const int64_t step = layout.table_stride, list_step = layout.list.inner().out, count = std::ssize(row_offsets);
  const int64_t* const offset = row_offsets.data();
  if constexpr (std::is_same_v<Sum, T>) {
    for (int64_t i = 0; i < count; ++i) {
      T& sum = to[offset[i] * step];
      sum = wrapping_add(sum, list[i * list_step]);
    }
  } else {
    const Scratch<Sum> sums(layout.table_size);
    std::fill_n(sums.data(), layout.table_size, -Sum(0));  // which leaves a -0 as it is
    for (int64_t i = 0; i < count; ++i) sums.data()[offset[i]] += static_cast<Compute<T>>(list[i * list_step]);
    for (int64_t v = 0; v < layout.table_size; ++v)
      to[v * step] = static_cast<T>(static_cast<Compute<T>>(static_cast<Compute<T>>(to[v * step]) + sums.data()[v]));
  }
}

/// A place for each row that is listed, by a hash table with open addressing.
struct Places {
  explicit Places(std::span<const int64_t> rows)
      : room(static_cast<int64_t>(std::bit_ceil(2 * rows.size()))), of(std::ssize(rows)) {
    const Scratch<int64_t> owners(room);
    std::fill_n(owners.data(), room, int64_t{-1});
    const int shift = 64 - std::countr_zero(static_cast<uint64_t>(room));
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t row = rows[i];
      auto place =
          static_cast<int64_t>(static_cast<uint64_t>(row) * 0x9e3779b97f4a7c15u >> shift);  // Fibonacci hashing
      while (owners.data()[place] != row && owners.data()[place] != -1) place = (place + 1) & (room - 1);
      owners.data()[place] = row;
      of.data()[i] = place;
    }
  }
  int64_t room;
  Scratch<int64_t> of;
};

/// Slices of one element of 16 bits: what goes to one row is summed, in order, before it is rounded.
template <class T>
void add_elements(const T* list, std::span<const int64_t> rows, std::span<const int64_t> row_offsets,
                  const SliceLayout& layout, T* to) {
  const auto add_at = [&](const int64_t* places, int64_t room) {
    const int64_t step = layout.table_stride, list_step = layout.list.inner().out, count = std::ssize(rows);
    const Scratch<double> sums(room);
    double* const sum = sums.data();
    std::fill_n(sum, room, -0.0);
    for (int64_t i = 0; i < count; ++i) sum[places[i]] += static_cast<Compute<T>>(list[i * list_step]);
    for (int64_t i = 0; i < count; ++i) {
      T& element = to[row_offsets[static_cast<size_t>(i)] * step];
      element = static_cast<T>(static_cast<Compute<T>>(static_cast<Compute<T>>(element) + sum[places[i]]));
      sum[places[i]] = -0.0;  // where the row comes again, nothing is left to add
    }
  };
  if (!is_sparse(std::ssize(rows), layout)) return add_at(rows.data(), layout.table_size);
  const Places places(rows);
  add_at(places.of.data(), places.room);
}

}  // namespace

void add_slices(const Operand& list, std::span<const int64_t> rows, std::span<const int64_t> row_offsets,
                const SliceLayout& layout, int64_t skip, const Operand& start, const Operand& table) {
  const int64_t count = std::ssize(rows), size = layout.slice.count();
  if (size == 0) return;
  if (count == 0) return begin_as(start, table);
  const NestAxis run = run_of(layout.slice);
  const Nest outer = layout.slice.outer();
  // Rows of which few are listed, or which are not in one stride, begin all at once, and only those that are listed are
  // gone through.
  const bool sparse = is_sparse(count, layout), begun = sparse || rows.data() != row_offsets.data();
  if (begun) begin_as(start, table);
  const RowGroups groups(rows, layout.table_size, sparse);
  const Scratch<int64_t> list_offsets(count);
  fill_offsets(layout.list, list_offsets, count);
  const int64_t mean_work = std::max<int64_t>(1, count * size / groups.count);
  const bool dense = run.size == size && run.in == 1 && run.out == 1;
  visit_number(table.dtype, [&]<class T>() {
    const T* from = list.data<T>();
    T* to = table.data<T>();
    const T* before = begun ? to : start.defined() ? start.data<T>() : nullptr;
    const auto before_at = [&](int64_t offset) { return before == nullptr ? nullptr : before + offset; };
    const auto offset_of = [&](int64_t i) { return row_offsets[static_cast<size_t>(i)] * layout.table_stride; };
    parallel_for(groups.count, std::max<int64_t>(1, kSliceGrain / mean_work), [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const int64_t first = groups.starts.data()[g], members = groups.starts.data()[g + 1] - first;
        const int64_t* const order = groups.order.data() + first;
        NestWalk walk(outer, 0);
        if (members == 0 || rows[static_cast<size_t>(*order)] == skip) {
          if (before == to) continue;
          for (int64_t k = 0, row = g * layout.table_stride; k < size; k += run.size, walk.next())
            begin_run(before_at(row + walk.in()), to + row + walk.in(), run.in, run.size);
          continue;
        }
        if (dense && first + members + 1 < count) {  // what the next sums read lies anywhere
          const int64_t next = order[members + 1];
          prefetch_run(from + list_offsets.data()[next], size);
          if (before != nullptr) prefetch_run(before + offset_of(next), size);
        }
        const int64_t row = offset_of(*order);
        for (int64_t k = 0; k < size; k += run.size, walk.next())
          add_runs(ListedRuns<T>{from + walk.out(), list_offsets.data(), order}, run.out, members, AsTheyAre{},
                   before_at(row + walk.in()), to + row + walk.in(), run.in, run.size);
      }
    });
  });
}

namespace {

/// How often the row is listed that is listed most.
int64_t most_of_a_row(std::span<const int64_t> rows, int64_t table_size) {
  const Scratch<int64_t> counts(table_size);
  std::fill_n(counts.data(), table_size, 0);
  int64_t most = 0;
  for (const int64_t row : rows) most = std::max(most, ++counts.data()[row]);
  return most;
}

/// Adds slices that are one run each, in the order of the list. Not for halves.
void add_in_order(const Operand& list, std::span<const int64_t> rows, std::span<const int64_t> row_offsets,
                  const SliceLayout& layout, const Operand& start, const Operand& table) {
  const NestAxis run = run_of(layout.slice);
  begin_as(start, table);
  visit_number(table.dtype, [&]<class T>() {
    if constexpr (!is_half<T>) {
      const T* const from = list.data<T>();
      T* const to = table.data<T>();
      for_listed(rows, layout, run.size, false, [&](int64_t i, const SliceStart& at) {
        const T* const source = from + at.list;
        T* const target = to + at.table + row_offsets[static_cast<size_t>(i)] * layout.table_stride;
        for (int64_t j = 0; j < run.size; ++j)
          target[j * run.in] = wrapping_add(target[j * run.in], source[j * run.out]);
      });
    }
  });
}

}  // namespace

void add_rows(const Operand& list, std::span<const int64_t> rows, std::span<const int64_t> row_offsets,
              const SliceLayout& layout, const Operand& start, const Operand& table) {
  const int64_t count = std::ssize(rows), size = layout.slice.count();
  const bool half = is_half_precision(table.dtype), across = size > 1 && lies_across(layout);
  // Rows of sums in another type are as long as the table: there is one stride, and the list is not short beside it.
  const bool whole = rows.data() == row_offsets.data() && !is_sparse(count, layout);
  constexpr int64_t kMany = 8;  // added to one row, in the mean
  const bool many = whole && count > kMany * layout.table_size;
  constexpr int64_t kShort = 16;        // slices: sorting them by their rows would cost more than adding them
  constexpr int64_t kMostOfARow = 256;  // added one after the other: more would lose digits
  const bool short_runs = size > 1 && size <= kShort && run_of(layout.slice).size == size;
  if (count > 0 && short_runs && !across && !half && whole && !many &&
      (count <= kMostOfARow || most_of_a_row(rows, layout.table_size) <= kMostOfARow))
    return add_in_order(list, rows, row_offsets, layout, start, table);
  if (count == 0 || (size != 1 && (!across || (half && !whole))))
    return add_slices(list, rows, row_offsets, layout, -1, start, table);
  visit_number(table.dtype, [&]<class T>() {
    const T* from = list.data<T>();
    T* to = table.data<T>();
    begin_as(start, table);
    if constexpr (is_half<T>)
      if (size == 1) return add_elements(from, rows, row_offsets, layout, to);
    const auto add = [&](int64_t in, int64_t out) {
      if constexpr (!std::is_integral_v<T>)
        if (many) return add_along_row<double>(from + out, row_offsets, layout, to + in);
      add_along_row<Compute<T>>(from + out, row_offsets, layout, to + in);
    };
    size == 1 ? add(0, 0) : for_elements(layout, count, add);
  });
}

}  // namespace weft::kernels::cpu
