// packed_gemm: weft's own product of f32 and f64 matrices, for sizes at which a library's call, or the code that it
// generates, costs more than it saves (f32), and for all sizes where there is none (f64).
#pragma once

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu {

/// c = a b, c += a b where `accumulate`, or c = a b + bias (one value per column) where `bias` is not null; never both.
/// a and b have a row or column stride of 1, c's column stride is 1; no size is 0. The bits depend on the sizes
/// alone. T: float or double.
template <class T>
void packed_gemm(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate, const T* bias = nullptr);

/// out = the block of a b that begins at row i and column j, on one thread, with the bits that it has in the whole
/// product. out's column stride is 1.
template <class T> void packed_gemm_block(Matrix<const T> a, Matrix<const T> b, int64_t i, int64_t j, Matrix<T> out);

/// Whether that is the fastest way for f32 (operands as above). By sizes and strides alone.
///
/// Over 1,900 shapes of 8 to 1,024, one thread of a Xeon: 1.01 times the speed of the better of oneDNN's two ways in
/// the median, at least 0.81 in nineteen of twenty. Beyond 2^28 multiplications (61 shapes of 4,096 rows and more, on
/// Zen 5) it is 1.06 in the median, at least 0.96, 1.25 and more where c has 64 columns; and it takes no memory of the
/// C library's, whose heap sgemm fragments. It returns false for vectors, for few rows of c with a transposed b, for
/// few columns under few rows, and beyond 2^28 for a transposed a, where a library's is up to a tenth faster.
///
/// Without AVX-512 (6 x 16 tiles, 100 to 110 GFLOP/s where a core of Zen 4 has 116 with AVX2), over 1,800 shapes of 32
/// to 4,096 there, sgemm limited to AVX2: it returns true for layouts with which sgemm is slow (1.3 to 2.4, down to
/// 0.9 for sums of 32), for transposed weights under 1,024 rows and more (1.02 in the median and 1.1 where k is 1,024,
/// a bias copied for sgemm first), and for products of middle size with a transposed a (1.03).
bool prefers_packed(const Matrix<const float>& a, const Matrix<const float>& b);

}  // namespace weft::kernels::cpu
