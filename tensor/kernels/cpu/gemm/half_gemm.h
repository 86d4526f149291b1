// half_gemm: products of bf16 and f16 in f32's instructions. Operands are widened as they are packed, never as a whole.
#pragma once

#include "tensor/core/half.h"
#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu {

/// c = a b, c += a b where `accumulate`, or c = a b + bias (one value per column) where `bias` is not null; never both.
/// Sums are f32 and rounded once. a and b have a row or column stride of 1, c's column stride is 1; no size is 0.
/// The bits depend on the sizes alone. H: BFloat16 or Float16; Out: H or float.
///
/// For CPUs without instructions for such products, and for those whose vdpbf16ps is slower than two of f32's: Intel's
/// with AVX512_FP16 do 16 multiplications a cycle with it, and 32 without.
template <class H, class Out>
void half_gemm(Matrix<const H> a, Matrix<const H> b, Matrix<Out> c, bool accumulate, const Out* bias = nullptr);

}  // namespace weft::kernels::cpu
