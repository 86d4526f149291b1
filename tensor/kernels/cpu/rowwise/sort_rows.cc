// The order of a matrix's rows: by the first column, then the runs of rows that are equal so far by the next.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/rowwise/sort_records.h"
#include "tensor/ops/sort.h"

namespace weft::kernels::cpu {
namespace {

/// A matrix with dense rows.
template <class T> struct Rows {
  using Key = typename SortKey<T>::Key;
  Key key(int64_t row, int64_t column) const {
    return SortKey<T>::of(static_cast<Compute<T>>(elements[row * width + column]));
  }
  /// Whether row a comes before row b; they are equal up to `column`.
  bool is_before(int64_t a, int64_t b, int64_t column) const {
    constexpr int64_t kTogether = 64 / sizeof(T);
    const auto bytes = [&](int64_t row) { return reinterpret_cast<const uint8_t*>(elements + row * width + column); };
    while (column + kTogether <= width && std::equal(bytes(a), bytes(a) + 64, bytes(b))) column += kTogether;
    for (; column < width; ++column)
      if (const Key first = key(a, column), second = key(b, column); first != second) return first < second;
    return a < b;
  }

  const T* elements;
  int64_t width;
};

/// Rows order[begin] to order[end], which are equal up to `column`, and in the order of their places.
struct Run {
  int64_t begin, end, column;
};

template <class T, class Record> void sort_rows(const Rows<T>& rows, int64_t count, int64_t* order) {
  constexpr int64_t kFew = 32;
  const Scratch<Record> first(count), second(count);
  std::iota(order, order + count, int64_t{0});
  std::vector<Run> runs = {{0, count, 0}};
  while (!runs.empty()) {
    const auto [begin, end, column] = runs.back();
    runs.pop_back();
    const int64_t size = end - begin;
    if (size < 2 || column == rows.width) continue;
    int64_t* const places = order + begin;
    if (size <= kFew) {
      std::sort(places, order + end, [&rows, at = column](int64_t a, int64_t b) { return rows.is_before(a, b, at); });
      continue;
    }
    for (int64_t i = 0; i < size; ++i) first.data()[i] = Record::make(rows.key(places[i], column), places[i]);
    const Record* const sorted =
        sort_records(first.data(), second.data(), size, SortKey<T>::kFirstByte, SortKey<T>::kEndByte);
    for (int64_t i = 0, run = 0; i < size; ++i) {
      places[i] = sorted[i].place();
      if (i + 1 < size && sorted[i + 1].key() == sorted[i].key()) continue;
      runs.push_back({begin + run, begin + i + 1, column + 1});
      run = i + 1;
    }
  }
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::SortRows::cpu(const Operand& x, const Operand& order) const {
  const int64_t count = x.size(0), width = x.size(1);
  const bool dense = x.view->is_contiguous();
  visit_stored(x.dtype, [&]<class T>() {
    const Scratch<T> row_major(dense ? 1 : std::max<int64_t>(1, x.numel()));
    const View view = View::contiguous(x.shape());
    if (!dense) copy(x, Operand{row_major.data(), &view, x.dtype});
    with_record<T>(count, [&]<class Record>() {
      sort_rows<T, Record>({dense ? x.data<T>() : row_major.data(), width}, count, order.data<int64_t>());
    });
  });
}

}  // namespace weft
