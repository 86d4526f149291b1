// Results in registers, or side by side in memory, to their places in c.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu {

/// The first `count` lanes to (or added to) elements side by side, rounded to their type.
template <class C, int N, class Out>
inline void put_part(simd::Vec<C, N> values, Out* out, int count, bool accumulate) {
  if (accumulate) values += simd::load_part<C, N>(out, count);
  simd::store_part<C, N>(out, values, count);
}

/// Rows of results, `width` apart, to (or added to) the rows of c, of any strides. A function of its own, as many
/// kernels end with it.
template <class C, class Out>
[[gnu::noinline]] void put_rows(const C* results, int64_t width, const Matrix<Out>& c, bool accumulate) {
  for (int64_t i = 0; i < c.rows; ++i, results += width) {
    Out* const to = &c.at(i, 0);
    if (c.column_stride == 1 && !accumulate) {
      copy_run(results, to, c.columns);
      continue;
    }
    for (int64_t j = 0; j < c.columns; ++j) {
      Out& element = to[j * c.column_stride];
      element = static_cast<Out>(accumulate ? static_cast<C>(element) + results[j] : results[j]);
    }
  }
}

}  // namespace weft::kernels::cpu
