// The shim over oneDNN: the only code that depends on its version, its objects and how it uses threads.
//
// Primitives are cached per thread (bounded, least recently used), together with memory objects whose handles are set
// anew on every call: finding and starting one costs a fraction of a microsecond, no lock is taken, and two threads
// that run the same primitive have scratchpads of their own. What is expensive, the generated code, is shared by
// oneDNN's own cache below. Callers have checked every size: none is 0 (a product with an empty dimension kills the
// process) and all byte counts fit (oneDNN wraps silently).
#pragma once

#include <cstddef>

#include "tensor/core/half.h"
#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::onednn {

/// c = a b (+ c), f32, on the calling thread. Every operand has a row or column stride of 1 (`is_blas`); c's column
/// stride is 1.
void sgemm(Matrix<const float> a, Matrix<const float> b, Matrix<float> c, bool accumulate);

/// Whether `biased_gemm`, with a bias or without, is faster than `sgemm` for these operands (both `is_blas`). By sizes
/// and strides alone.
bool prefers_primitive(const Matrix<const float>& a, const Matrix<const float>& b, bool biased);
/// c = a b + bias, f32, with a cached matmul primitive; operands as for sgemm, one bias per column or null. False where
/// oneDNN declines: nothing was done.
bool biased_gemm(Matrix<const float> a, Matrix<const float> b, const float* bias, Matrix<float> c);

/// Whether this CPU has instructions for products of bf16: AVX512_BF16 or AMX, which the environment variable
/// DNNL_MAX_CPU_ISA may switch off.
bool has_bf16();
/// And whether they are faster than those of f32: not where a CPU with AMX hides it, whose AVX512_BF16 is half as fast.
bool has_fast_bf16();
/// Whether oneDNN uses AMX for them.
bool has_amx();
/// c = a b, c += a b where `accumulate`, or c = a b + bias (one value per column) where `bias` is not null; never both.
/// bf16 with f32 sums; operands as for sgemm. False where this CPU cannot: nothing was done.
bool bf16_gemm(Matrix<const BFloat16> a, Matrix<const BFloat16> b, Matrix<BFloat16> c, bool accumulate,
               const BFloat16* bias = nullptr);
/// c = a b, whose sums are not rounded.
bool bf16_gemm(Matrix<const BFloat16> a, Matrix<const BFloat16> b, Matrix<float> c);

/// True where one direction has stride 1 and the other does not overlap it, as matrix products require.
template <class T> bool is_blas(const Matrix<T>& m) {
  return (m.column_stride == 1 && m.row_stride >= m.columns) || (m.row_stride == 1 && m.column_stride >= m.rows);
}

/// The most primitives of one kind (product, convolution) that a thread keeps.
inline constexpr size_t kMostPrimitives = 1024;

}  // namespace weft::kernels::cpu::onednn
