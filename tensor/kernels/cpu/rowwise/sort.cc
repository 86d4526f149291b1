// Sorts along an axis: by radix, in parallel over rows and inside of long ones.
#include "tensor/ops/sort.h"

#include "tensor/kernels/cpu/rowwise/chosen_rows.h"
#include "tensor/kernels/cpu/rowwise/short_rows.h"

namespace weft::kernels::cpu {
namespace {

template <class T, class Record>
void sort_rows(const Operand& x, int64_t axis, bool descending, const Operand& values, const Operand& indices) {
  using Key = SortKey<T>;
  const auto flip = static_cast<typename Key::Key>(descending ? Key::kMask : 0);
  choose_rows<T>(x, axis, values, indices, [&](int64_t length, const auto& each) {
    const Scratch<Record> first(length), second(length);
    each([&](const Compute<T>* row) {
      parallel_for(length, kLongRow / 2, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          first.data()[i] = Record::make(static_cast<typename Key::Key>(Key::of(row[i]) ^ flip), i);
      });
      return Chosen<Record>{sort_records(first.data(), second.data(), length, Key::kFirstByte, Key::kEndByte),
                            values.size(axis), flip};
    });
  });
}

}  // namespace

void sort_into(const Operand& x, int64_t axis, bool descending, const Operand& values, const Operand& indices) {
  if (x.size(axis) <= kShortRowSorted) return choose_from_short_rows(x, axis, descending, values, indices, {});
  visit_stored(x.dtype, [&]<class T>() {
    with_record<T>(x.size(axis), [&]<class Record>() { sort_rows<T, Record>(x, axis, descending, values, indices); });
  });
}

}  // namespace weft::kernels::cpu

namespace weft {

void op::Sort::cpu(const Operand& x, const Operand& values, const Operand& indices) const {
  kernels::cpu::sort_into(x, axis, descending, values, indices);
}

}  // namespace weft
