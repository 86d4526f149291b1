// ReducePlan: a reduction as two nests of axes (those that stay, those that go), merged and ordered by memory.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/loops/nest.h"

namespace weft::kernels::cpu {

/// Cuts the only reduced axis: segment s is [bounds[s], bounds[s + 1]). Its results lie s * step behind those of the
/// first.
struct Segments {
  const int64_t* bounds;
  int64_t count;
  int64_t step;
};

struct ReducePlan {
  Nest kept;
  Nest reduced;
  int64_t in_offset;  // of the first element, from the base of the storage
  int64_t out_offset;
  const Segments* segments = nullptr;  // null: the reduced axes are one segment
};

/// `out` has x's rank with size 1 at `axes`. Order-free: axes are flipped to positive strides, sorted and merged.
ReducePlan plan_reduction(const Operand& x, const IntList& axes, const Operand& out);

/// Reductions by a plan whose nests are those of x and out. Sums and products of integers are modulo the dtype of out.
void fold_sum(const ReducePlan& plan, const Operand& x, const Operand& out);
void fold_product(const ReducePlan& plan, const Operand& x, const Operand& out);
void fold_largest(const ReducePlan& plan, const Operand& x, const Operand& out);
void fold_smallest(const ReducePlan& plan, const Operand& x, const Operand& out);

}  // namespace weft::kernels::cpu
