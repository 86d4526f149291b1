// The loops of scatter: values combined with elements of rows, or of slices, that an index names. The loops over
// rows and slices are compiled once (scatter_rows.cc), the innermost ones for each type and reduction.
#pragma once

#include "tensor/kernels/cpu/index/slice_index.h"
#include "tensor/kernels/cpu/loops/nest.h"

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
bool starts_rows(const Operand& src, int64_t axis, const Operand& into);

/// All axes but one: in of src, out of into.
Nest rows_of(const Operand& src, int64_t axis, const Operand& into);

/// Where the values of some rows (in), and the elements that they are for (out), begin.
struct RowOffsets {
  static constexpr int64_t kMost = 128;
  int64_t in[kMost], out[kMost];
};

/// Whole rows, whose indices follow each other, and how their elements begin. Steps count elements, as below.
struct WholeRows {
  void* elements;
  int64_t size, step;
  const void* values;
  int64_t length, value_step;
  /// From row to row, where elements and values are contiguous and rows evenly spaced: then only the first row has
  /// offsets. Else 0.
  int64_t row_step, value_row_step;
  bool begins;  // elements are first those of `start`, or zeros where it is null
  const void* start;
  int64_t start_step;
  int64_t starts[RowOffsets::kMost];
};

/// `count` rows that are interleaved in the list, entries of one row `index_step` apart: element j of each is combined
/// before element j + 1 of any.
struct RowBand {
  void* elements;
  int64_t step;
  const void* values;
  int64_t value_step;
  int64_t index_step, count;
};

/// The innermost loops, and how many bytes an element has.
struct ScatterLoops {
  int64_t bytes;
  /// Each value of `count` rows with the element that the index names.
  void (*rows)(const WholeRows& rows, const RowOffsets& offsets, const int64_t* index, int64_t count);
  /// Values [first, end) of each row with the elements that the index of value `first` and what follows name.
  void (*band)(const RowBand& band, const RowOffsets& offsets, const int64_t* index, int64_t first, int64_t end);
  /// Each of `count` values with an element.
  void (*run)(void* elements, int64_t step, int64_t count, const void* values, int64_t value_step);
};

/// Those of elements of T and a functor without state: element = f(element, value).
template <class T, class F> class ScatterOf {
  static void begin(T* to, int64_t step, int64_t size, const T* from, int64_t from_step) {
    for (int64_t k = 0; k < size; ++k) to[k * step] = from == nullptr ? T(0) : from[k * from_step];
  }
  static void even_rows(const WholeRows& rows, const RowOffsets& offsets, const int64_t* index, int64_t count) {
    // Copies: a byte that is written may be any variable's.
    T* to = static_cast<T*>(rows.elements) + offsets.out[0];
    const T* from = static_cast<const T*>(rows.values) + offsets.in[0];
    const int64_t length = rows.length, to_row_step = rows.row_step, from_row_step = rows.value_row_step;
    for (int64_t k = 0; k < count; ++k, to += to_row_step, from += from_row_step, index += length)
      for (int64_t j = 0; j < length; ++j) to[index[j]] = static_cast<T>(F{}(to[index[j]], from[j]));
  }
  static void rows(const WholeRows& rows, const RowOffsets& offsets, const int64_t* index, int64_t count) {
    const int64_t length = rows.length;
    if (rows.row_step != 0) return even_rows(rows, offsets, index, count);
    for (int64_t k = 0; k < count; ++k, index += length) {
      T* const to = static_cast<T*>(rows.elements) + offsets.out[k];
      const T* const from = static_cast<const T*>(rows.values) + offsets.in[k];
      const T* const start = static_cast<const T*>(rows.start);
      if (rows.begins)
        begin(to, rows.step, rows.size, start == nullptr ? start : start + rows.starts[k], rows.start_step);
      const auto each = [=](int64_t to_step, int64_t from_step) __attribute__((always_inline)) {
        for (int64_t j = 0; j < length; ++j) {
          T& element = to[index[j] * to_step];
          element = static_cast<T>(F{}(element, from[j * from_step]));
        }
      };
      rows.step == 1 && rows.value_step == 1 ? each(1, 1) : each(rows.step, rows.value_step);
    }
  }
  static void band(const RowBand& band, const RowOffsets& offsets, const int64_t* index, int64_t first, int64_t end) {
    // Copies: a byte that is written may be any variable's.
    T* const elements = static_cast<T*>(band.elements);
    const int64_t step = band.step, value_step = band.value_step, index_step = band.index_step, count = band.count;
    for (int64_t j = first; j < end; ++j, index += index_step) {
      const T* const values = static_cast<const T*>(band.values) + j * value_step;
      for (int64_t k = 0; k < count; ++k) {
        T& element = elements[offsets.out[k] + index[k] * step];
        element = static_cast<T>(F{}(element, values[offsets.in[k]]));
      }
    }
  }
  static void run(void* elements, int64_t step, int64_t count, const void* values, int64_t value_step) {
    const auto each = [=](T * to, const T* from, int64_t in, int64_t out) __attribute__((always_inline)) {
      for (int64_t j = 0; j < count; ++j) to[j * in] = static_cast<T>(F{}(to[j * in], from[j * out]));
    };
    T* const to = static_cast<T*>(elements);
    const T* const from = static_cast<const T*>(values);
    step == 1 && value_step == 1 ? each(to, from, 1, 1) : each(to, from, step, value_step);
  }

 public:
  static constexpr ScatterLoops kLoops{sizeof(T), &rows, &band, &run};
};

/// element = f(element, value) along rows of `axis`. No value leaves its row, so rows may go to any thread.
void scatter_rows(const Operand& src, const IndexList& list, int64_t axis, const Operand& into,
                  const ScatterLoops& loops, const RowStart& start = {});

/// element = f(element, value) for the slices that `rows` name, in order. Each thread has rows of its own and goes
/// through the whole list.
void scatter_slices(const Operand& src, const IndexList& rows, const SliceLayout& layout, const Operand& into,
                    const ScatterLoops& loops);

}  // namespace weft::kernels::cpu
