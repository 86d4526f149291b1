#include "tensor/ops/compare.h"

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"

namespace weft::kernels::cpu {
namespace {

template <class F> void tensors(const F& f, const Operand& a, const Operand& b, const Operand& out) {
  visit_stored(a.dtype, [&]<class T>() { elementwise<bool, T, T>(kCheapGrain, f, out, a, b); });
}

template <class F> void scalar(const F& f, const Operand& x, const Scalar& value, const Operand& out) {
  visit_stored(x.dtype, [&]<class T>() {
    using C = detail::Stored<Compute<T>>;
    elementwise<bool, T>(
        kCheapGrain, [&f, right = scalar_as<C>(value)](C e) { return f(e, right); }, out, x);
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

#define WEFT_LOGICAL_KERNEL(Op, ...)                                               \
  void op::Op::cpu(const Operand& a, const Operand& b, const Operand& out) const { \
    tensors([](auto x, auto y) { return __VA_ARGS__; }, a, b, out);                \
  }
#define WEFT_COMPARE_KERNEL(Op, ScalarOp, ...)                          \
  WEFT_LOGICAL_KERNEL(Op, __VA_ARGS__)                                  \
  void op::ScalarOp::cpu(const Operand& in, const Operand& out) const { \
    scalar([](auto x, auto y) { return __VA_ARGS__; }, in, value, out); \
  }

WEFT_COMPARE_KERNEL(Eq, EqScalar, x == y)
WEFT_COMPARE_KERNEL(Ne, NeScalar, x != y)
WEFT_COMPARE_KERNEL(Lt, LtScalar, x < y)
WEFT_COMPARE_KERNEL(Le, LeScalar, x <= y)
WEFT_COMPARE_KERNEL(Gt, GtScalar, x > y)
WEFT_COMPARE_KERNEL(Ge, GeScalar, x >= y)
WEFT_LOGICAL_KERNEL(LogicalAnd, (x != 0) & (y != 0))
WEFT_LOGICAL_KERNEL(LogicalOr, (x != 0) | (y != 0))
WEFT_LOGICAL_KERNEL(LogicalXor, (x != 0) != (y != 0))

}  // namespace weft
