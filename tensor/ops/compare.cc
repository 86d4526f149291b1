#include "tensor/ops/compare.h"

#include "tensor/kernels/cpu/pointwise/compare.h"
#include "tensor/kernels/cpu/pointwise/unary.h"
#include "tensor/kernels/cpu/pointwise/where.h"
#include "tensor/op.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/unary.h"
#include "tensor/ops/view.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace op {

template <class Self>
Spec Compare<Self>::infer(const Tensor& a, const Tensor& b) const {
  return {result_view(a.shape(), {&a, &b}), boolean};
}
template <class Self>
Spec CompareScalar<Self>::infer(const Tensor& x) const {
  return spec_like(x, boolean);
}
template <class Self>
Spec Predicate<Self>::infer(const Tensor& x) const {
  return spec_like(x, boolean);
}

#define WEFT_COMPARE(Op, function)                                             \
  template <>                                                                  \
  void Compare<Op>::run(const Tensor& a, const Tensor& b, Tensor& out) const { \
    cpu::function(operand(a), operand(b), operand(out));                       \
  }                                                                            \
  template Spec Compare<Op>::infer(const Tensor& a, const Tensor& b) const;
WEFT_COMPARE(Eq, eq)
WEFT_COMPARE(Ne, ne)
WEFT_COMPARE(Lt, lt)
WEFT_COMPARE(Le, le)
WEFT_COMPARE(Gt, gt)
WEFT_COMPARE(Ge, ge)
WEFT_COMPARE(LogicalAnd, logical_and)
WEFT_COMPARE(LogicalOr, logical_or)
WEFT_COMPARE(LogicalXor, logical_xor)
#undef WEFT_COMPARE

#define WEFT_COMPARE_SCALAR(Op, function)                           \
  template <>                                                       \
  void CompareScalar<Op>::run(const Tensor& x, Tensor& out) const { \
    cpu::function(operand(x), value, operand(out));                 \
  }                                                                 \
  template Spec CompareScalar<Op>::infer(const Tensor& x) const;
WEFT_COMPARE_SCALAR(EqScalar, eq_scalar)
WEFT_COMPARE_SCALAR(NeScalar, ne_scalar)
WEFT_COMPARE_SCALAR(LtScalar, lt_scalar)
WEFT_COMPARE_SCALAR(LeScalar, le_scalar)
WEFT_COMPARE_SCALAR(GtScalar, gt_scalar)
WEFT_COMPARE_SCALAR(GeScalar, ge_scalar)
#undef WEFT_COMPARE_SCALAR

#define WEFT_PREDICATE(Op, function)                            \
  template <>                                                   \
  void Predicate<Op>::run(const Tensor& x, Tensor& out) const { \
    cpu::function(operand(x), operand(out));                    \
  }                                                             \
  template Spec Predicate<Op>::infer(const Tensor& x) const;
WEFT_PREDICATE(LogicalNot, logical_not)
WEFT_PREDICATE(IsNan, isnan)
WEFT_PREDICATE(IsFinite, isfinite)
#undef WEFT_PREDICATE

Spec Where::infer(const Tensor&, const Tensor& a, const Tensor& b) const {
  return {result_view(a.shape(), {&a, &b}), a.dtype()};
}
void Where::run(const Tensor& condition, const Tensor& a, const Tensor& b, Tensor& out) const {
  cpu::where(operand(condition), operand(a), operand(b), operand(out));
}

}  // namespace op

namespace {

template <class Op>
Tensor compare(const char* name, const Tensor& a, const Tensor& b) {
  Frame frame(name, a, b);
  const auto [x, y] = detail::meet(a, b);
  return apply(Op{}, x, y);
}

template <class Op>
Tensor compare(const char* name, const Tensor& x, const Scalar& value) {
  Frame frame(name, x);
  Op op;
  op.value = value;
  return apply(op, cast(x, promote_scalar(x.dtype(), value)));
}

template <class Op>
Tensor logical(const char* name, const Tensor& a, const Tensor& b) {
  Frame frame(name, a, b);
  const auto [x, y] = detail::meet(cast(a, boolean), cast(b, boolean));
  return apply(Op{}, x, y);
}

template <class Op>
Tensor predicate(const char* name, const Tensor& x) {
  Frame frame(name, x);
  return apply(Op{}, x);
}

}  // namespace

Tensor eq(const Tensor& a, const Tensor& b) { return compare<op::Eq>("eq", a, b); }
Tensor ne(const Tensor& a, const Tensor& b) { return compare<op::Ne>("ne", a, b); }
Tensor lt(const Tensor& a, const Tensor& b) { return compare<op::Lt>("lt", a, b); }
Tensor le(const Tensor& a, const Tensor& b) { return compare<op::Le>("le", a, b); }
Tensor gt(const Tensor& a, const Tensor& b) { return compare<op::Gt>("gt", a, b); }
Tensor ge(const Tensor& a, const Tensor& b) { return compare<op::Ge>("ge", a, b); }
Tensor eq(const Tensor& a, const Scalar& b) { return compare<op::EqScalar>("eq", a, b); }
Tensor ne(const Tensor& a, const Scalar& b) { return compare<op::NeScalar>("ne", a, b); }
Tensor lt(const Tensor& a, const Scalar& b) { return compare<op::LtScalar>("lt", a, b); }
Tensor le(const Tensor& a, const Scalar& b) { return compare<op::LeScalar>("le", a, b); }
Tensor gt(const Tensor& a, const Scalar& b) { return compare<op::GtScalar>("gt", a, b); }
Tensor ge(const Tensor& a, const Scalar& b) { return compare<op::GeScalar>("ge", a, b); }
Tensor logical_and(const Tensor& a, const Tensor& b) { return logical<op::LogicalAnd>("logical_and", a, b); }
Tensor logical_or(const Tensor& a, const Tensor& b) { return logical<op::LogicalOr>("logical_or", a, b); }
Tensor logical_xor(const Tensor& a, const Tensor& b) { return logical<op::LogicalXor>("logical_xor", a, b); }
Tensor logical_not(const Tensor& x) { return predicate<op::LogicalNot>("logical_not", x); }
Tensor isnan(const Tensor& x) { return predicate<op::IsNan>("isnan", x); }
Tensor isfinite(const Tensor& x) { return predicate<op::IsFinite>("isfinite", x); }

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  Frame frame("where", condition, a, b);
  if (condition.dtype() != boolean)
    throw DtypeError(text("the condition is ", condition.dtype(), "; it takes bool, e.g. x != 0"));
  auto [x, y] = detail::meet(a, b);
  const Shape shape = broadcast_shapes(condition.shape(), x.shape());
  const Tensor c = condition.shape() == shape ? condition : broadcast(condition, shape);
  if (x.shape() != shape) x = broadcast(x, shape), y = broadcast(y, shape);
  return apply(op::Where{}, c, x, y);
}

bool equal(const Tensor& a, const Tensor& b) {
  Frame frame("equal", a, b);
  return a.dtype() == b.dtype() && a.shape() == b.shape() && all(eq(a, b)).item<bool>();
}

bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  Frame frame("allclose", a, b);
  const Tensor x = cast(a.detach(), f64);
  const Tensor y = cast(b.detach(), f64);
  // Equal values first: the difference of two infinities is NaN.
  Tensor close = logical_or(eq(x, y), logical_and(le(abs(sub(x, y)), add(mul(abs(y), rtol), atol)), isfinite(y)));
  if (equal_nan) close = logical_or(close, logical_and(isnan(x), isnan(y)));
  return all(close).item<bool>();
}

}  // namespace weft
