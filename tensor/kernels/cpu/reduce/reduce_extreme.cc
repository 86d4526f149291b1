// Largest and smallest values, any and all.
#include "tensor/kernels/cpu/reduce/keepdim_output.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"
#include "tensor/ops/reduce.h"

namespace weft::kernels::cpu {
namespace {

template <class Op, class T, class Result> void fold_to(const ReducePlan& plan, const Operand& x, const Operand& out) {
  auto* result = static_cast<Result*>(out.base) + plan.out_offset;
  reduce(plan, static_cast<const T*>(x.base), OnePass<Op>{},
         [&](int64_t offset, int64_t step, const typename Op::Acc* values, int64_t count) {
           for (int64_t i = 0; i < count; ++i) result[offset + i * step] = static_cast<Result>(values[i]);
         });
}

template <bool kLargest> void fold_extreme(const ReducePlan& plan, const Operand& x, const Operand& out) {
  visit_stored(x.dtype, [&]<class T>() { fold_to<ExtremeOp<T, kLargest>, T, T>(plan, x, out); });
}

template <class Fold> void fold_planned(const Operand& x, const op::Reduction& op, const Operand& out, Fold fold) {
  const KeepdimOutput kept(out, op.axes, op.keepdim);
  fold(plan_reduction(x, op.axes, kept.operand), x, out);
}

/// All types of one byte are read as u8: they are zero alike.
template <bool kAny> void fold_truth(const ReducePlan& plan, const Operand& x, const Operand& out) {
  visit_stored(x.dtype, [&]<class T>() {
    using Read = std::conditional_t<sizeof(T) == 1, uint8_t, T>;
    fold_to<TruthOp<Read, kAny>, Read, bool>(plan, x, out);
  });
}

}  // namespace

void fold_largest(const ReducePlan& plan, const Operand& x, const Operand& out) { fold_extreme<true>(plan, x, out); }
void fold_smallest(const ReducePlan& plan, const Operand& x, const Operand& out) { fold_extreme<false>(plan, x, out); }

}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Max::cpu(const Operand& x, const Operand& out) const { fold_planned(x, *this, out, fold_largest); }
void op::Min::cpu(const Operand& x, const Operand& out) const { fold_planned(x, *this, out, fold_smallest); }
void op::Any::cpu(const Operand& x, const Operand& out) const { fold_planned(x, *this, out, fold_truth<true>); }
void op::All::cpu(const Operand& x, const Operand& out) const { fold_planned(x, *this, out, fold_truth<false>); }

}  // namespace weft
