// Sums and products.
#include "tensor/kernels/cpu/reduce/keepdim_output.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"
#include "tensor/ops/reduce.h"

namespace weft::kernels::cpu {
namespace {

template <class T> using Result = std::conditional_t<kFloating<T>, double, int64_t>;

/// Integers are no NaN.
template <class T> using NanSumOf = std::conditional_t<kFloating<T>, NanSumOp<T>, SumOp<T>>;

template <template <class> class FoldOp>
void fold_to_sum(const ReducePlan& plan, const Operand& x, const Operand& out) {
  visit_stored(x.dtype, [&]<class T>() {
    reduce(
        plan, static_cast<const T*>(x.base), OnePass<FoldOp<T>>{},
        into(Sink(out, plan.out_offset), [](typename FoldOp<T>::Acc value) { return static_cast<Result<T>>(value); }));
  });
}

template <template <class> class FoldOp>
void fold_to_sum(const Operand& x, const op::Reduction& op, const Operand& out) {
  const KeepdimOutput kept(out, op.axes, op.keepdim);
  fold_to_sum<FoldOp>(plan_reduction(x, op.axes, kept.operand), x, out);
}

}  // namespace

void fold_sum(const ReducePlan& plan, const Operand& x, const Operand& out) { fold_to_sum<SumOp>(plan, x, out); }
void fold_product(const ReducePlan& plan, const Operand& x, const Operand& out) { fold_to_sum<ProdOp>(plan, x, out); }

}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Sum::cpu(const Operand& x, const Operand& out) const { fold_to_sum<SumOp>(x, *this, out); }
void op::NanSum::cpu(const Operand& x, const Operand& out) const { fold_to_sum<NanSumOf>(x, *this, out); }
void op::Prod::cpu(const Operand& x, const Operand& out) const { fold_to_sum<ProdOp>(x, *this, out); }

}  // namespace weft
