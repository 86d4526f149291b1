// ReducePlan: a reduction as two nests of axes (those that stay, those that go), merged and ordered by memory.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/loops/nest.h"

namespace weft::kernels::cpu {

struct ReducePlan {
  Nest kept;
  Nest reduced;
  int64_t in_offset;  // of the first element, from the base of the storage
  int64_t out_offset;
};

/// `out` has x's rank with size 1 at `axes`. Order-free: axes are flipped to positive strides, sorted and merged.
ReducePlan plan_reduction(const Operand& x, const IntList& axes, const Operand& out);

}  // namespace weft::kernels::cpu
