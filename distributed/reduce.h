// The sum over ranks, element by element, always in the order of the ranks: the same bits on every rank, in every run,
// and those of one process that adds up as many gradients one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/core/dtype.h"

namespace weft::distributed {

/// `mean` is the sum times 1 / size, exact where the size is a power of two.
enum class ReduceOp : uint8_t { sum, mean, max, min };
const char* name_of(ReduceOp op);

/// DtypeError where `op` does not take `dtype`: sums of bool, means of integers.
void check_reducible(ReduceOp op, DType dtype);

/// to[k][i] = from[0][i] op from[1][i] op ... for i in [0, count) and every k. Each `to` may be one of `from`. Half
/// types are summed in f32 and rounded once; integers wrap; NaN propagates in max and min.
void reduce(ReduceOp op, DType dtype, std::span<const std::byte* const> from, std::span<std::byte* const> to,
            int64_t count);
inline void reduce(ReduceOp op, DType dtype, std::span<const std::byte* const> from, std::byte* to, int64_t count) {
  reduce(op, dtype, from, std::span<std::byte* const>(&to, 1), count);
}

}  // namespace weft::distributed
