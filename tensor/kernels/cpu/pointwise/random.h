// Random fills. Element i of `out`, counted in row-major order whatever its strides, is a pure function of the key and i, so
// neither the memory order nor the number of threads matters.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/core/random.h"

namespace weft::kernels::cpu {

/// Uniform in [0, 1): f32 in steps of 2^-24, f64 2^-53, f16 2^-11, bf16 2^-8 (all exact, so 1 never appears). Floating.
void uniform(RandomKey key, const Operand& out);
/// Standard normal. Floating; bf16 and f16 are rounded from float. In f32 the last bits differ from `normal_block`, which uses
/// the C library's functions.
void normal(RandomKey key, const Operand& out);
/// Uniform integers in [low, high), low < high, converted to the dtype of `out`.
void randint(RandomKey key, int64_t low, int64_t high, const Operand& out);
/// out is 1-D, i64: a permutation of 0 .. n-1 (Fisher and Yates).
void randperm(RandomKey key, const Operand& out);
/// out[i] = x[i] / (1 - p), or 0 with probability p (0 <= p <= 1; all 0 for p = 1). Floating. The same key drops the same
/// elements, so the gradient is this function of the gradient.
void dropout(const Operand& x, RandomKey key, double p, const Operand& out);

}  // namespace weft::kernels::cpu
