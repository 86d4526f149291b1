// Operands of shape (..., rows, columns) as matrices: where each of them lies, and who works on it.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// The offset of matrix (or vector, or number) `index` of x, whose last `inner` axes belong to it.
inline int64_t offset_of(const Operand& x, int64_t index, int64_t inner) {
  int64_t offset = 0;
  for (int64_t axis = x.rank() - inner; axis-- > 0;) {
    offset += index % x.size(axis) * x.stride(axis);
    index /= x.size(axis);
  }
  return offset;
}

/// How many matrices x holds.
inline int64_t batch_count(const Operand& x) {
  int64_t count = 1;
  for (int64_t axis = 0; axis + 2 < x.rank(); ++axis) count *= x.size(axis);
  return count;
}

/// Matrix `index` of x.
template <class T> Matrix<T> matrix_of(const Operand& x, int64_t index) {
  const int64_t r = x.rank();
  return {x.data<T>() + offset_of(x, index, 2), x.size(r - 2), x.size(r - 1), x.stride(r - 2), x.stride(r - 1)};
}

/// f(index) for each of `count` matrices that cost about `work` operations: in parallel, each on one thread, where
/// there are enough of them or they cost less than `serial_work`, else one after the other with all threads.
template <class F> void for_each_matrix(int64_t count, double work, const F& f, double serial_work = 1e6) {
  if (count < 2 * region_threads() && work >= serial_work) {
    for (int64_t i = 0; i < count; ++i) f(i);
    return;
  }
  const int64_t grain = 1 + static_cast<int64_t>(1e5 / (work + 1));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace weft::kernels::cpu
