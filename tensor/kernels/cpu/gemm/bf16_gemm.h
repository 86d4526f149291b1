// bf16::gemm: weft's own product of bf16 matrices. No operand is copied or widened as a whole.
#pragma once

#include <cstdint>

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::bf16 {

/// Whether steps of a sum are done by vdpbf16ps (AVX512_BF16), which DNNL_MAX_CPU_ISA may switch off; else by f32.
bool has_instruction();
/// And whether it is faster than f32's instructions (half_gemm.h).
bool has_fast_instruction();

/// c = a b, c += a b where `accumulate`, or c = a b + bias (one value per column) where `bias` is not null; never both.
/// Sums are f32 and rounded once. a and b have a row or column stride of 1, c's column stride is 1; no size is 0.
/// The bits depend on the sizes alone. Out: BFloat16 or float.
template <class Out>
void gemm(Matrix<const BFloat16> a, Matrix<const BFloat16> b, Matrix<Out> c, bool accumulate,
          const Out* bias = nullptr);

/// b in pairs, as right operands of product() lie, row k / 2 at out + k / 2 * width; zeros up to a multiple of 16
/// columns (8 without AVX-512) and of 2 rows. b has a row or column stride of 1.
void pack(const Matrix<const BFloat16>& b, uint32_t* out, int64_t width);

/// c = a b, or c += a b, of operands that lie as amx::product() takes them, on the calling thread. `rows` is any
/// number, `columns` a multiple of 16, `depth` of 2.
void product(const BFloat16* a, int64_t a_row, const uint32_t* b, int64_t b_row, float* c, int64_t c_row, int64_t rows,
             int64_t columns, int64_t depth, bool accumulate);

}  // namespace weft::kernels::cpu::bf16
