// Sums and products.
#include "tensor/kernels/cpu/reduce/reduce.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"

namespace weft::kernels::cpu {
namespace {

template <class T>
using Result = std::conditional_t<kFloating<T>, double, int64_t>;

template <class Op, class T>
void fold_to_sum(const Operand& x, const IntList& axes, const Operand& out) {
  const ReducePlan plan = plan_reduction(x, axes, out);
  reduce(plan, static_cast<const T*>(x.base), OnePass<Op>{},
         into(Sink(out, plan.out_offset), [](typename Op::Acc value) { return static_cast<Result<T>>(value); }));
}

}  // namespace

void sum(const Operand& x, const IntList& axes, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() { fold_to_sum<SumOp<T>, T>(x, axes, out); });
}

void prod(const Operand& x, const IntList& axes, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() { fold_to_sum<ProdOp<T>, T>(x, axes, out); });
}

void sum_squares(const Operand& x, const IntList& axes, const Operand& out) {
  visit_floating(x.dtype, [&]<class T>() { fold_to_sum<SquareOp<T>, T>(x, axes, out); });
}

}  // namespace weft::kernels::cpu
