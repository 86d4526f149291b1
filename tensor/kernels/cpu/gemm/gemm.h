// gemm: the product of two matrices in memory, which matmul and the convolutions are made of.
#pragma once

#include "tensor/core/half.h"
#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu {

/// c = a b, or c += a b where `accumulate`; any strides and sizes (an empty sum is zero). c overlaps neither a nor b.
///
/// Floating dtypes of few rows or columns go to narrow_product.h where that is faster in their memory order. Else f32
/// goes to oneDNN or to packed_gemm.h, whichever is faster for its size; f64 to packed_gemm.h; bf16 and f16 are
/// multiplied and summed in f32. Sums of more elements than f32 can take, or of many with few results, are those of
/// parts (long_sums.h). Integers (which wrap around) of a few rows or columns are computed one row or column after the
/// other; other integers, and everything where loops are forced, take the loops of loop_gemm.h. Uses threads outside of
/// a parallel region.
/// T: float, double, BFloat16, Float16, int64_t, int32_t, int16_t, int8_t, uint8_t.
template <class T>
void gemm(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate = false);

/// The same in weft's own kernels alone: the bits do not depend on the number of threads, as those of a library's f32
/// products do. T: float or double.
template <class T>
void own_gemm(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate = false);

/// c = a b + bias in one pass, where that is done faster than after the product: f32, bf16 and f16, one bias per
/// column, contiguous. False where not: nothing was done.
bool biased_gemm(Matrix<const float> a, Matrix<const float> b, const float* bias, Matrix<float> c);
bool biased_gemm(Matrix<const BFloat16> a, Matrix<const BFloat16> b, const BFloat16* bias, Matrix<BFloat16> c);
bool biased_gemm(Matrix<const Float16> a, Matrix<const Float16> b, const Float16* bias, Matrix<Float16> c);

/// c = a b in f32, of any strides and sizes: products of bf16 or f16 that are to be summed before they are rounded.
template <class H> void widening_gemm(const Matrix<const H>& a, const Matrix<const H>& b, const Matrix<float>& c);

/// The largest number of multiplications for which packing or a library call costs more than a plain loop.
inline constexpr int64_t kTinyProduct = 20 * 20 * 20;

}  // namespace weft::kernels::cpu
