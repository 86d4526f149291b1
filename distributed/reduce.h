// Element-wise reductions over ranks, always in rank order. The bits are the same on every rank and in every run, and
// equal those of one process that accumulates the same gradients one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/core/dtype.h"

namespace weft::distributed {

/// `mean` is the sum times 1 / size, which is exact if size is a power of two.
enum class ReduceOp : uint8_t { sum, mean, max, min };
const char* name_of(ReduceOp op);

/// DtypeError if `op` does not support `dtype`: sums of bool, means of integers.
void check_reducible(ReduceOp op, DType dtype);

/// to[k][i] = from[0][i] op from[1][i] op ... for every k and every i in [0, count). Each `to` may be one of `from`.
/// 16-bit floating types are summed in f32 and rounded once; integers wrap; max and min propagate NaN.
void reduce(ReduceOp op, DType dtype, std::span<const std::byte* const> from, std::span<std::byte* const> to,
            int64_t count);
inline void reduce(ReduceOp op, DType dtype, std::span<const std::byte* const> from, std::byte* to, int64_t count) {
  reduce(op, dtype, from, std::span<std::byte* const>(&to, 1), count);
}

}  // namespace weft::distributed
