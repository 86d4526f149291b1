// Largest and smallest values, any and all.
#include "tensor/kernels/cpu/reduce/keepdim_output.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"
#include "tensor/ops/reduce.h"

namespace weft::kernels::cpu {
namespace {

template <class Op, class T, class Result> void fold_to(const Operand& x, const op::Reduction& op, const Operand& out) {
  const KeepdimOutput kept(out, op.axes, op.keepdim);
  const ReducePlan plan = plan_reduction(x, op.axes, kept.operand);
  auto* result = static_cast<Result*>(out.base) + plan.out_offset;
  reduce(plan, static_cast<const T*>(x.base), OnePass<Op>{},
         [&](int64_t offset, int64_t step, const typename Op::Acc* values, int64_t count) {
           for (int64_t i = 0; i < count; ++i) result[offset + i * step] = static_cast<Result>(values[i]);
         });
}

/// All types of one byte are read as u8: they are zero alike.
template <class T, bool kAny> void fold_truth(const Operand& x, const op::Reduction& op, const Operand& out) {
  using Read = std::conditional_t<sizeof(T) == 1, uint8_t, T>;
  fold_to<TruthOp<Read, kAny>, Read, bool>(x, op, out);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Max::cpu(const Operand& x, const Operand& out) const {
  visit_stored(x.dtype, [&]<class T>() { fold_to<ExtremeOp<T, true>, T, T>(x, *this, out); });
}

void op::Min::cpu(const Operand& x, const Operand& out) const {
  visit_stored(x.dtype, [&]<class T>() { fold_to<ExtremeOp<T, false>, T, T>(x, *this, out); });
}

void op::Any::cpu(const Operand& x, const Operand& out) const {
  visit_stored(x.dtype, [&]<class T>() { fold_truth<T, true>(x, *this, out); });
}

void op::All::cpu(const Operand& x, const Operand& out) const {
  visit_stored(x.dtype, [&]<class T>() { fold_truth<T, false>(x, *this, out); });
}

}  // namespace weft
