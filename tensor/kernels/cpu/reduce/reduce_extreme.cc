// Largest and smallest values, any and all.
#include "tensor/kernels/cpu/reduce/keepdim_output.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"
#include "tensor/ops/reduce.h"

namespace weft::kernels::cpu {
namespace {

/// f(value) of each fold goes to the output as a Result.
template <class T, class Result, class Op, class F>
void fold_to(const ReducePlan& plan, const Operand& x, const Operand& out, const OnePass<Op>& policy, const F& f) {
  auto* result = static_cast<Result*>(out.base) + plan.out_offset;
  reduce(plan, static_cast<const T*>(x.base), policy,
         [=](int64_t offset, int64_t step, const typename Op::Acc* values, int64_t count) {
           const F of = f;  // not what is written might change
           Result* const to = result + offset;
           for (int64_t i = 0; i < count; ++i) to[i * step] = static_cast<Result>(of(values[i]));
         });
}

template <bool kLargest> void fold_extreme(const ReducePlan& plan, const Operand& x, const Operand& out) {
  visit_stored(x.dtype, [&]<class T>() {
    fold_to<T, T>(plan, x, out, OnePass<ExtremeOp<T, kLargest>>{}, [](auto value) { return value; });
  });
}

/// Whether any is not zero, or all: that is, not any is zero.
void fold_truth(bool all, const ReducePlan& plan, const Operand& x, const Operand& out) {
  visit_stored(x.dtype, [&]<class T>() {
    using Read = std::conditional_t<sizeof(T) == 1, uint8_t, T>;  // all types of one byte are zero alike
    using Truth = TruthOp<Read>;
    const auto inverted = static_cast<typename Truth::Pre>(all ? -1 : 0);
    fold_to<Read, bool>(plan, x, out, OnePass<Truth>{inverted}, [all](auto found) { return (found != 0) != all; });
  });
}
void fold_any(const ReducePlan& plan, const Operand& x, const Operand& out) { fold_truth(false, plan, x, out); }
void fold_all(const ReducePlan& plan, const Operand& x, const Operand& out) { fold_truth(true, plan, x, out); }

template <class Fold> void fold_planned(const Operand& x, const op::Reduction& op, const Operand& out, Fold fold) {
  const KeepdimOutput kept(out, op.axes, op.keepdim);
  fold(plan_reduction(x, op.axes, kept.operand), x, out);
}

}  // namespace

void fold_largest(const ReducePlan& plan, const Operand& x, const Operand& out) { fold_extreme<true>(plan, x, out); }
void fold_smallest(const ReducePlan& plan, const Operand& x, const Operand& out) { fold_extreme<false>(plan, x, out); }

}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Max::cpu(const Operand& x, const Operand& out) const { fold_planned(x, *this, out, fold_largest); }
void op::Min::cpu(const Operand& x, const Operand& out) const { fold_planned(x, *this, out, fold_smallest); }
void op::Any::cpu(const Operand& x, const Operand& out) const { fold_planned(x, *this, out, fold_any); }
void op::All::cpu(const Operand& x, const Operand& out) const { fold_planned(x, *this, out, fold_all); }

}  // namespace weft
