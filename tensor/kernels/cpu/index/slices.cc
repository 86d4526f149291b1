#include "tensor/kernels/cpu/index/slices.h"

#include <cstring>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/index/listed_slices.h"
#include "tensor/kernels/cpu/index/slice_sums.h"

namespace weft::kernels::cpu {
namespace {

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

/// Copies a dense run and meanwhile prefetches the cache lines of the next, which may lie anywhere.
template <class T> void copy_dense_run(const T* from, T* to, int64_t count, const T* next) {
  for_lanes<T>(count, [&](int64_t j, auto lanes) {
    simd::prefetch(next + j, 0);
    put_lanes(to + j, lanes_at(from + j, lanes), lanes);
  });
}

/// Slices of this many bytes and more are copied by copy_dense_run(). The CPU overlaps the copies of shorter ones
/// without prefetches.
constexpr int64_t kLongSlice = 1024;

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
  const NestAxis run = layout.slice.run();
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
  const NestAxis run = layout.slice.run();
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
}  // namespace weft::kernels::cpu
