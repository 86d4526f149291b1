// What the descriptors of linear algebra share: which dtypes they take, checks of matrices (..., rows, columns).
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// f32 and f64; 16 bits hold too few digits for a factorisation.
inline constexpr Policy kFactorisation = {.accepts = only(DType::f32) | only(DType::f64),
                                          .autocast = Autocasting::full};

/// ShapeError for less than two axes.
inline void check_matrices(const Operand& a) {
  if (a.rank() < 2) throw ShapeError(text("it takes matrices (..., rows, columns), not shape ", a.shape()));
}
/// ShapeError for what is not square.
inline void check_square(const Operand& a) {
  if (a.rank() < 2 || a.size(a.rank() - 1) != a.size(a.rank() - 2))
    throw ShapeError(text("it takes square matrices (..., n, n), not shape ", a.shape()));
}
/// The shape of matrices `rows` x `columns` in the batch of `a`.
inline Shape matrices_like(const Operand& a, int64_t rows, int64_t columns) {
  Shape out = a.shape();
  out[out.size() - 2] = rows, out[out.size() - 1] = columns;
  return out;
}
/// The shape of vectors of `size` in the batch of `a`.
inline Shape vectors_like(const Operand& a, int64_t size) {
  Shape out(a.shape().begin(), a.shape().end() - 1);
  out[out.size() - 1] = size;
  return out;
}
/// The batch of `a`.
inline Shape batch_like(const Operand& a) { return Shape(a.shape().begin(), a.shape().end() - 2); }

}  // namespace weft::op
