// Sums and products.
#include "tensor/kernels/cpu/reduce/keepdim_output.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"
#include "tensor/ops/reduce.h"

namespace weft::kernels::cpu {
namespace {

/// Sums as they are: doubles, or integers modulo 2^64.
struct SumResults {
  template <class Partial> using Of = std::conditional_t<std::is_floating_point_v<Partial>, double, int64_t>;
  template <class Partial> void operator()(const Partial* partials, int64_t count, Of<Partial>* out) const {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Of<Partial>>(partials[i]);
  }
};

/// Integers are no NaN.
template <class T> using NanSumOf = std::conditional_t<kFloating<T>, NanSumOp<T>, SumOp<T>>;

template <template <class> class FoldOp>
void fold_to_sum(const ReducePlan& plan, const Operand& x, const Operand& out) {
  visit_stored(x.dtype, [&]<class T>() {
    reduce(plan, static_cast<const T*>(x.base), OnePass<FoldOp<T>>{},
           IntoSink<SumResults>{Sink(out, plan.out_offset), {}});
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
