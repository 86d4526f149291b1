// Matrix products of operands with any strides, batched.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// out = a b, or out += a b where `accumulate`: a is (batch..., M, K), b (batch..., K, N), out (batch..., M, N), the batch
/// axes equal (broadcast ones have stride 0), rank 2 to 8, one dtype. Transposed operands are read in place; strides that
/// no library takes are packed first. Batches that strides allow are folded into one product. K = 0 gives zeros.
///
/// f32 and bf16 run in oneDNN, f16 in f32; f64 and integers (which wrap around) in weft's loops. DtypeError for bool.
void matmul(const Operand& a, const Operand& b, const Operand& out, bool accumulate = false);

}  // namespace weft::kernels::cpu
