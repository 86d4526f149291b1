// The slices that a list names, gone through one by one: what copying and adding them share.
#pragma once

#include <cstdlib>
#include <span>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/index/slices.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

inline constexpr int64_t kSliceGrain = 16384;

/// copy_bytes() where both are dense.
template <class T> void copy_run(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t count) {
  if (from_step == 1 && to_step == 1) {
    copy_bytes(from, to, count * static_cast<int64_t>(sizeof(T)));
  } else {
    for (int64_t j = 0; j < count; ++j) to[j * to_step] = from[j * from_step];
  }
}

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
inline bool lies_across(const SliceLayout& layout) {
  constexpr int64_t kFew = 4, kLong = 64;  // slices, of which each is gone through by itself
  const NestAxis run = layout.slice.run();
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

/// f(i, at) for all listed slices, of `size` elements each, in parallel. Where a row of the table may be listed twice,
/// each thread has rows of its own and goes through the whole list, so that the last write to a row stays the last.
/// Single elements are all one thread's: to find out whose each is would cost more than to write it.
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
inline void fill_offsets(const Nest& list, const Scratch<int64_t>& offsets, int64_t count) {
  for_each_start(list, 0, count, [&](int64_t i, const SliceStart& at) { offsets.data()[i] = at.list; });
}

/// Whether few rows of the table are listed.
inline bool is_sparse(int64_t count, const SliceLayout& layout) {
  constexpr int64_t kFew = 8;  // one of so many
  return count < layout.table_size / kFew;
}

}  // namespace weft::kernels::cpu
