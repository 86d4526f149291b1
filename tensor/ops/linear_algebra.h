// Shared by the descriptors of linear algebra: their policy, and checks and shapes of matrices (..., rows, columns).
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// f32 and f64. bf16 and f16 are not precise enough for a factorization.
inline constexpr Policy kFactorization = {.accepts = DTypes{f32, f64}, .autocast = Autocasting::full};

/// ShapeError for fewer than two axes.
inline void check_matrices(const Operand& a) {
  if (a.rank() < 2) throw ShapeError(text("it takes matrices (..., rows, columns), not shape ", a.shape()));
}
/// ShapeError if the matrices are not square.
inline void check_square(const Operand& a) {
  if (a.rank() < 2 || a.size(a.rank() - 1) != a.size(a.rank() - 2))
    throw ShapeError(text("it takes square matrices (..., n, n), not shape ", a.shape()));
}
/// The shape (..., rows, columns), with the batch axes of `a`.
inline Shape matrices_like(const Operand& a, int64_t rows, int64_t columns) {
  Shape out = a.shape();
  out[out.size() - 2] = rows, out[out.size() - 1] = columns;
  return out;
}
/// The shape (..., size), with the batch axes of `a`.
inline Shape vectors_like(const Operand& a, int64_t size) {
  Shape out(a.shape().begin(), a.shape().end() - 1);
  out[out.size() - 1] = size;
  return out;
}
/// The sizes of the batch axes of `a`.
inline Shape batch_like(const Operand& a) { return Shape(a.shape().begin(), a.shape().end() - 2); }
/// ShapeError unless b can be the right side of a x = b, with square matrices a.
inline void check_right_side(const Operand& a, const Operand& b) {
  const int64_t n = a.size(a.rank() - 1);
  if (b.rank() < 2 || b.size(b.rank() - 2) != n || batch_like(b) != batch_like(a))
    throw ShapeError(text("the right side must have ", n, " rows, its shape is ", b.shape()));
}

}  // namespace weft::op
