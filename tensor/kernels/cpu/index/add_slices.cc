// Slices of a list added to those of a table that an index names.
#include <bit>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/index/grouped_entries.h"
#include "tensor/kernels/cpu/index/listed_slices.h"
#include "tensor/kernels/cpu/index/slice_sums.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/pointwise/fill.h"

namespace weft::kernels::cpu {
namespace {

/// Prefetches the first cache lines of a dense run; the hardware prefetcher follows from there.
template <class T> void prefetch_run(const T* p, int64_t count) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T)), kMost = 16 * kLine;
  for (int64_t j = 0; j < std::min(count, kMost); j += kLine) simd::prefetch(p + j, 0);
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
      : slots(static_cast<int64_t>(std::bit_ceil(2 * rows.size()))), of(std::ssize(rows)) {
    const Scratch<int64_t> owners(slots);
    std::fill_n(owners.data(), slots, int64_t{-1});
    const int shift = 64 - std::countr_zero(static_cast<uint64_t>(slots));
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t row = rows[i];
      auto place =
          static_cast<int64_t>(static_cast<uint64_t>(row) * 0x9e3779b97f4a7c15u >> shift);  // Fibonacci hashing
      while (owners.data()[place] != row && owners.data()[place] != -1) place = (place + 1) & (slots - 1);
      owners.data()[place] = row;
      of.data()[i] = place;
    }
  }
  int64_t slots;
  Scratch<int64_t> of;
};

/// Slices of one element of 16 bits: what goes to one row is summed, in order, before it is rounded.
template <class T>
void add_elements(const T* list, std::span<const int64_t> rows, std::span<const int64_t> row_offsets,
                  const SliceLayout& layout, T* to) {
  const auto add_at = [&](const int64_t* places, int64_t slots) {
    const int64_t step = layout.table_stride, list_step = layout.list.inner().out, count = std::ssize(rows);
    const Scratch<double> sums(slots);
    double* const sum = sums.data();
    std::fill_n(sum, slots, -0.0);
    for (int64_t i = 0; i < count; ++i) sum[places[i]] += static_cast<Compute<T>>(list[i * list_step]);
    for (int64_t i = 0; i < count; ++i) {
      T& element = to[row_offsets[static_cast<size_t>(i)] * step];
      element = static_cast<T>(static_cast<Compute<T>>(static_cast<Compute<T>>(element) + sum[places[i]]));
      sum[places[i]] = -0.0;  // where the row comes again, nothing is left to add
    }
  };
  if (!is_sparse(std::ssize(rows), layout)) return add_at(rows.data(), layout.table_size);
  const Places places(rows);
  add_at(places.of.data(), places.slots);
}

}  // namespace

void add_slices(const Operand& list, std::span<const int64_t> rows, std::span<const int64_t> row_offsets,
                const SliceLayout& layout, int64_t skip, const Operand& start, const Operand& table) {
  const int64_t count = std::ssize(rows), size = layout.slice.count();
  if (size == 0) return;
  if (count == 0) return begin_as(start, table);
  const NestAxis run = layout.slice.run();
  const Nest outer = layout.slice.outer();
  // Rows of which few are listed, or which are not in one stride, begin all at once, and only those that are listed are
  // gone through.
  const bool sparse = is_sparse(count, layout), begun = sparse || rows.data() != row_offsets.data();
  if (begun) begin_as(start, table);
  const GroupedEntries groups(rows, layout.table_size, sparse);
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
    // The row at this offset as it begins, and with the `members` slices added whose numbers are at `order`.
    const auto begin_row = [&](int64_t row) {
      NestWalk walk(outer, 0);
      for (int64_t k = 0; k < size; k += run.size, walk.next())
        begin_run(before_at(row + walk.in()), to + row + walk.in(), run.in, run.size);
    };
    const auto sum_row = [&](int64_t row, const int64_t* order, int64_t members) {
      NestWalk walk(outer, 0);
      for (int64_t k = 0; k < size; k += run.size, walk.next())
        add_runs(ListedRuns<T>{from + walk.out(), list_offsets.data(), order}, run.out, members, AsTheyAre{},
                 before_at(row + walk.in()), to + row + walk.in(), run.in, run.size);
    };
    const auto prefetch_row = [&](int64_t i) {
      prefetch_run(from + list_offsets.data()[i], size);
      if (before != nullptr) prefetch_run(before + offset_of(i), size);
    };
    parallel_for(groups.count, std::max<int64_t>(1, kSliceGrain / mean_work), [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const int64_t first = groups.starts.data()[g], members = groups.starts.data()[g + 1] - first;
        const int64_t* const order = groups.order.data() + first;
        if (members == 0 || rows[static_cast<size_t>(*order)] == skip) {
          if (before != to) begin_row(g * layout.table_stride);
          continue;
        }
        if (dense && first + members + 1 < count) prefetch_row(order[members + 1]);  // which may lie anywhere
        sum_row(offset_of(*order), order, members);
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
  const NestAxis run = layout.slice.run();
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
  const bool short_runs = size > 1 && size <= kShort && layout.slice.run().size == size;
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
