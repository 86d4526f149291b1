// Binary searches in sorted rows, many values at a time: the number of steps depends on the row's size alone.
#include "tensor/ops/search.h"

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kTogether = 16;

/// Whether an element is sorted before v (for vectors, lane by lane). NaN is sorted last.
template <bool kRight, bool kIsFloat, class V> WEFT_SIMD auto before(V element, V v) {
  if constexpr (kIsFloat)
    return kRight ? (element <= v) | (v != v) : (element < v) | ((v != v) & (element == element));
  else
    return kRight ? element <= v : element < v;
}

/// For each of `count` values, at most kCount: the number of the n sorted elements that come before it.
template <bool kRight, int64_t kCount, class C, class E>
void search_some(const E* sorted, int64_t n, const E* values, int64_t count, int64_t* out) {
  C value[kCount] = {};
  int64_t at[kCount] = {};
  for (int64_t j = 0; j < count; ++j) value[j] = static_cast<C>(values[j]);
  for (int64_t left = n; left > 0;) {
    const int64_t half = (left + 1) / 2;
    // The last step compares the only element that is left, with half = 1.
    for (int64_t j = 0; j < kCount; ++j)
      at[j] += before<kRight, kFloating<C>>(static_cast<C>(sorted[at[j] + half - 1]), value[j]) * half;
    left -= half;
  }
  for (int64_t j = 0; j < count; ++j) out[j] = at[j];
}

/// Rows of up to this many elements are compared as a whole instead of searched; but many values are searched in rows
/// for which two or three steps suffice.
template <class C> constexpr int64_t kCounted = 2 * simd::kLanes<C>;
template <bool kRight, class C, class E> int64_t count_before(const E* sorted, int64_t n, C value) {
  constexpr int N = simd::kLanes<C>;
  using Number = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;
  const simd::Vec<C, N> v = simd::Vec<C, N>{} + value;
  simd::Vec<Number, N> found = {};
  for_lanes<C>(n, [&](int64_t j, auto lanes) {
    const auto comes = (simd::Vec<Number, N>)before<kRight, kFloating<C>>(lanes_at(sorted + j, lanes), v);
    found -= simd::first_lanes<Number, N>(comes, simd::Vec<Number, N>{}, lanes);
  });
  return simd::fold_lanes<Add, Number, N>(found);
}

template <bool kRight, class C, class E>
void search_some(const E* sorted, int64_t n, const E* values, int64_t count, int64_t* out) {
  if constexpr (sizeof(C) >= 4)
    if (n <= kCounted<C> && (n > 4 || count < kTogether)) {
      for (int64_t j = 0; j < count; ++j) out[j] = count_before<kRight, C>(sorted, n, static_cast<C>(values[j]));
      return;
    }
  if (count == 1) return search_some<kRight, 1, C>(sorted, n, values, count, out);
  count <= 4 ? search_some<kRight, 4, C>(sorted, n, values, count, out)
             : search_some<kRight, kTogether, C>(sorted, n, values, count, out);
}

template <class T> void search_rows(const Operand& sorted, const Operand& values, bool right, const Operand& out) {
  const int64_t last = values.rank() - 1, n = sorted.size(last), m = values.size(last), blocks = ceil_div(m, kTogether);
  if (m == 0) return;
  const RowView in(sorted, last), wanted(values, last), to(out, last);
  const int64_t count = wanted.count();
  const bool one_by_one = count < region_threads();
  const auto search = [&]<class Reader, class>(int64_t begin, int64_t end) {
    Reader rows(in, begin, end), reader(wanted, begin, end);
    RowWriter<int64_t> writer(to, begin, end);
    for (int64_t i = begin; i < end; ++i, rows.next(), reader.next(), writer.next()) {
      const auto *row = n == 0 ? nullptr : rows.row(), *value = reader.row();
      using E = std::remove_cvref_t<decltype(*value)>;
      int64_t* to = writer.row();
      parallel_for(blocks, 256, [&](int64_t b, int64_t stop) {
        for (; b < stop; ++b) {
          const int64_t first = b * kTogether, some = std::min(kTogether, m - first);
          (right ? search_some<true, Compute<T>, E> : search_some<false, Compute<T>, E>)(row, n, value + first, some,
                                                                                         to + first);
        }
      });
    }
  };
  // 16-bit rows as they are stored: few of their elements are looked at.
  for_row_ranges<T, INT64_MAX>(count, one_by_one ? count : row_grain(8 * m), search, in, wanted);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Searchsorted::cpu(const Operand& sorted, const Operand& values, const Operand& out) const {
  visit_stored(values.dtype, [&]<class T>() { search_rows<T>(sorted, values, right, out); });
}

}  // namespace weft
