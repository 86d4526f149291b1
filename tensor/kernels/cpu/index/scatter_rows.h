// The loops of scatter: values combined with elements of rows, or of slices, that an index names.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "tensor/kernels/cpu/index/slice_index.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// What scatter_rows() does besides the reduction: rows begin as those of x or as zeros just before something is added
/// to them, where it may (starts_rows()), and what is written only to memory that is thrown away with an error may
/// check its indices on the way.
struct RowStart {
  const Operand* x = nullptr;
  bool zeros = false;
  bool checks = false;
};

/// Whether scatter_rows() can begin each row of `into`: they lie along the last axis, and src has all of them.
inline bool starts_rows(const Operand& src, int64_t axis, const Operand& into) {
  if (axis != src.rank() - 1 || src.size(axis) == 0) return false;
  for (int64_t i = 0; i < axis; ++i) {
    const bool across = into.size(i) > 1 && std::abs(into.stride(i)) < std::abs(into.stride(axis));
    if (src.size(i) != into.size(i) || across) return false;
  }
  return true;
}

/// All axes but one: in of src, out of into.
inline Nest rows_of(const Operand& src, int64_t axis, const Operand& into) {
  Nest rows;
  for (int64_t i = 0; i < src.rank(); ++i)
    if (i != axis) rows.push({src.size(i), src.stride(i), into.stride(i)});
  return rows;
}

/// A row, and the values that are combined with its elements at `index`.
template <class T> struct ScatterRow {
  T* elements;
  int64_t size, step;
  const T* values;
  int64_t value_step;
  const int64_t* index;
  int64_t length;

  void begin(const T* from, int64_t from_step) const {
    for (int64_t k = 0; k < size; ++k) elements[k * step] = from == nullptr ? T(0) : from[k * from_step];
  }
  template <class F> void combine(const F& f) const {
    const auto each = [&](int64_t to_step, int64_t from_step) __attribute__((always_inline)) {
      for (int64_t j = 0; j < length; ++j) {
        T& element = elements[index[j] * to_step];
        element = static_cast<T>(f(element, values[j * from_step]));
      }
    };
    step == 1 && value_step == 1 ? each(1, 1) : each(step, value_step);
  }
};

/// Lines [begin, end) whose indices follow each other; false where an index is bad.
template <class T, class F>
bool scatter_whole_rows(const Operand& src, const IndexList& list, int64_t axis, const Operand& into, const F& f,
                        const RowStart& start, int64_t begin, int64_t end) {
  const Nest rows = rows_of(src, axis, into), starts = rows_of(start.x != nullptr ? *start.x : into, axis, into);
  NestWalk walk(rows, begin), start_walk(starts, begin);
  ScatterRow<T> row{nullptr, into.size(axis), into.stride(axis), nullptr, src.stride(axis), nullptr, src.size(axis)};
  for (int64_t i = begin; i < end; ++i, walk.next(), start_walk.next()) {
    row.index = list.data() + i * row.length;
    row.values = src.data<T>() + walk.in();
    row.elements = into.data<T>() + walk.out();
    if (start.checks && !IndexList::all_below(row.index, row.length, row.size)) return false;
    if (start.x != nullptr)
      row.begin(start.x->template data<T>() + start_walk.in(), start.x->stride(axis));
    else if (start.zeros)
      row.begin(nullptr, 0);
    row.combine(f);
  }
  return true;
}

/// element = f(element, value) along rows of `axis`. No value leaves its row, so rows may go to any thread.
template <class T, class F>
void scatter_rows(const Operand& src, const IndexList& list, int64_t axis, const Operand& into, const F& f,
                  const RowStart& start = {}) {
  T* to = into.data<T>();
  const T* from = src.data<T>();
  const Nest rows = rows_of(src, axis, into);
  int64_t list_stride = 1;
  for (int64_t i = axis + 1; i < src.rank(); ++i) list_stride *= src.size(i);
  const int64_t length = src.size(axis), step = src.stride(axis), to_step = into.stride(axis), size = into.size(axis);
  std::atomic<bool> bad = false;
  // All rows that follow each other in the list advance together: element j of each before element j + 1 of any.
  const int64_t bands = list_stride == 0 || length == 0 ? 0 : list.count() / (list_stride * length);
  parallel_for(bands * list_stride, std::max<int64_t>(1, kIndexGrain / std::max<int64_t>(1, length)),
               [&, to, from, list_stride, length, step, to_step, size](int64_t begin, int64_t end) {
                 if (list_stride == 1) {
                   if (!scatter_whole_rows<T>(src, list, axis, into, f, start, begin, end)) bad = true;
                   return;
                 }
                 constexpr int64_t kGroup = 128;
                 int64_t in[kGroup], out[kGroup];
                 for (int64_t row = begin; row < end;) {
                   const int64_t band = row / list_stride, first = row % list_stride;
                   const int64_t count = std::min({kGroup, list_stride - first, end - row});
                   NestWalk walk(rows, row);
                   for (int64_t k = 0; k < count; ++k, walk.next()) {
                     in[k] = walk.in();
                     out[k] = walk.out();
                   }
                   const int64_t* index = list.data() + band * length * list_stride + first;
                   for (int64_t j = 0; j < length; ++j, index += list_stride) {
                     if (start.checks && !IndexList::all_below(index, count, size)) return bad.store(true);
                     T* const elements = to;  // copies: a byte that is written may be any variable's
                     const T* const values = from + j * step;
                     const int64_t elements_step = to_step;
                     for (int64_t k = 0; k < count; ++k) {
                       T& element = elements[out[k] + index[k] * elements_step];
                       element = static_cast<T>(f(element, values[in[k]]));
                     }
                   }
                   row += count;
                 }
               });
  if (bad) list.check(size);
}

/// element = f(element, value) for the slices that `rows` name, in order. Each thread has rows of its own and goes
/// through the whole list.
template <class T, class F>
void scatter_slices(const Operand& src, const IndexList& rows, const SliceLayout& layout, const Operand& into,
                    const F& f) {
  if (src.numel() == 0) return;
  const NestAxis run = layout.slice.rank > 0 ? layout.slice.inner() : NestAxis{1, 1, 1};
  const Nest outer = layout.slice.outer();
  const int64_t size = layout.slice.count(), parts = std::max<int64_t>(1, rows.count() * size / kIndexGrain);
  const auto combine = [&](T* to, const T* from) {
    const auto each = [&](int64_t in, int64_t out) __attribute__((always_inline)) {
      for (int64_t j = 0, n = run.size; j < n; ++j) to[j * in] = static_cast<T>(f(to[j * in], from[j * out]));
    };
    run.in == 1 && run.out == 1 ? each(1, 1) : each(run.in, run.out);
  };
  parallel_for(layout.table_size, std::max<int64_t>(1, layout.table_size / parts), [&](int64_t begin, int64_t end) {
    NestWalk slice(layout.list, 0);
    for (int64_t i = 0; i < rows.count(); ++i, slice.next()) {
      if (rows[i] < begin || rows[i] >= end) continue;
      T* const target = into.data<T>() + slice.in() + rows[i] * layout.table_stride;
      const T* const source = src.data<T>() + slice.out();
      if (outer.rank == 0) {
        combine(target, source);
        continue;
      }
      NestWalk walk(outer, 0);
      for (int64_t k = 0; k < size; k += run.size, walk.next()) combine(target + walk.in(), source + walk.out());
    }
  });
}

}  // namespace weft::kernels::cpu
