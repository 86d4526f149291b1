// What sorts and selections share: rows in, records of what was chosen out, written as values and indices.
#pragma once

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/rowwise/sort_records.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// The records chosen in a row, in order; keys are those of SortKey ^ flip.
template <class Record> struct Chosen {
  const Record* records;
  int64_t count;
  uint64_t flip;
};

template <class T, class Record>
void write_chosen(const Chosen<Record>& chosen, const Compute<T>* row, Compute<T>* values, int64_t* indices) {
  using Key = SortKey<T>;
  parallel_for(chosen.count, kLongRow / 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Record record = chosen.records[i];
      const auto key = static_cast<typename Key::Key>(record.key() ^ chosen.flip);
      indices[i] = record.place();
      values[i] = Key::is_shared(key) ? row[record.place()] : Key::value(key);
    }
  });
}

/// body(length, each) is called for groups of rows: it makes its buffers and calls each(f) once; f(row) chooses from
/// one row. A few long rows come one after the other, each with all threads.
template <class T, class Body>
void choose_rows(const Operand& x, int64_t axis, const Operand& values, const Operand& indices, const Body& body) {
  const RowView in(x, axis), to_values(values, axis), to_indices(indices, axis);
  const int64_t length = x.size(axis), count = in.count();
  if (length == 0 || values.size(axis) == 0) return;
  const bool one_by_one = length >= kLongRow && count < region_threads();
  parallel_for(count, one_by_one ? count : row_grain(8 * length), [&](int64_t begin, int64_t end) {
    RowReader<T> reader(in, begin, end);
    RowWriter<T> value(to_values, begin, end);
    RowWriter<int64_t> index(to_indices, begin, end);
    body(length, [&](const auto& choose) {
      for (int64_t i = begin; i < end; ++i, reader.next(), value.next(), index.next()) {
        const Compute<T>* row = reader.row();
        write_chosen<T>(choose(row), row, value.row(), index.row());
      }
    });
  });
}

/// The first values.size(axis) of each row in order.
void sort_into(const Operand& x, int64_t axis, bool descending, const Operand& values, const Operand& indices);

}  // namespace weft::kernels::cpu
