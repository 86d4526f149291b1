// Largest and smallest values, any and all.
#include "tensor/kernels/cpu/reduce/reduce.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"

namespace weft::kernels::cpu {
namespace {

template <class Op, class T, class Result>
void fold_to(const Operand& x, const IntList& axes, const Operand& out) {
  const ReducePlan plan = plan_reduction(x, axes, out);
  auto* result = static_cast<Result*>(out.base) + plan.out_offset;
  reduce(plan, static_cast<const T*>(x.base), OnePass<Op>{},
         [&](int64_t offset, int64_t step, const typename Op::Acc* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) result[offset + i * step] = static_cast<Result>(values[i]);
  });
}

}  // namespace

void max(const Operand& x, const IntList& axes, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() { fold_to<ExtremeOp<T, true>, T, T>(x, axes, out); });
}

void min(const Operand& x, const IntList& axes, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() { fold_to<ExtremeOp<T, false>, T, T>(x, axes, out); });
}

void any(const Operand& x, const IntList& axes, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() { fold_to<TruthOp<T, true>, T, bool>(x, axes, out); });
}

void all(const Operand& x, const IntList& axes, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() { fold_to<TruthOp<T, false>, T, bool>(x, axes, out); });
}

}  // namespace weft::kernels::cpu
