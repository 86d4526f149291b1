// Binary searches in sorted rows, many at a time: the steps of all are the same.
#include "tensor/ops/search.h"

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kTogether = 16;

/// How many of the n sorted elements come before each of `count` values, kCount at most.
template <bool kRight, int64_t kCount, class C>
void search_some(const C* sorted, int64_t n, const C* values, int64_t count, int64_t* out) {
  C value[kCount] = {};
  int64_t at[kCount] = {};
  for (int64_t j = 0; j < count; ++j) value[j] = values[j];
  const auto before = [](C element, C v) -> int64_t {
    if constexpr (std::is_floating_point_v<C>)
      return kRight ? (element <= v) | (v != v) : (element < v) | ((v != v) & (element == element));
    else
      return kRight ? element <= v : element < v;
  };
  for (int64_t left = n; left > 0;) {
    const int64_t half = (left + 1) / 2;
    // Ends with one element left, which is looked at with half = 1.
    for (int64_t j = 0; j < kCount; ++j) at[j] += before(sorted[at[j] + half - 1], value[j]) * half;
    left -= half;
  }
  for (int64_t j = 0; j < count; ++j) out[j] = at[j];
}

template <bool kRight, class C>
void search_some(const C* sorted, int64_t n, const C* values, int64_t count, int64_t* out) {
  if (count == 1) return search_some<kRight, 1>(sorted, n, values, count, out);
  count <= 4 ? search_some<kRight, 4>(sorted, n, values, count, out)
             : search_some<kRight, kTogether>(sorted, n, values, count, out);
}

template <class T> void search_rows(const Operand& sorted, const Operand& values, bool right, const Operand& out) {
  using C = Compute<T>;
  const int64_t last = values.rank() - 1, n = sorted.size(last), m = values.size(last);
  if (m == 0) return;
  const RowView in(sorted, last), wanted(values, last), to(out, last);
  const int64_t count = wanted.count();
  const bool one_by_one = count < region_threads();
  parallel_for(count, one_by_one ? count : row_grain(8 * m), [&](int64_t begin, int64_t end) {
    RowReader<T> rows(in, begin, end), reader(wanted, begin, end);
    RowWriter<int64_t> writer(to, begin, end);
    for (int64_t i = begin; i < end; ++i, rows.next(), reader.next(), writer.next()) {
      const C *row = n == 0 ? nullptr : rows.row(), *value = reader.row();
      int64_t* to = writer.row();
      const int64_t blocks = ceil_div(m, kTogether);
      parallel_for(blocks, 256, [&](int64_t b, int64_t stop) {
        for (; b < stop; ++b) {
          const int64_t first = b * kTogether, some = std::min(kTogether, m - first);
          (right ? search_some<true, C> : search_some<false, C>)(row, n, value + first, some, to + first);
        }
      });
    }
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Searchsorted::cpu(const Operand& sorted, const Operand& values, const Operand& out) const {
  visit_stored(values.dtype, [&]<class T>() { search_rows<T>(sorted, values, right, out); });
}

}  // namespace weft
