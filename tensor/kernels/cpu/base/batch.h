// Operands of shape (..., rows, columns) as matrices.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/matrix.h"

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

}  // namespace weft::kernels::cpu
