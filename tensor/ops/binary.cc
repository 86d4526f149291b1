#include "tensor/ops/binary.h"

#include "tensor/kernels/cpu/pointwise/binary.h"
#include "tensor/kernels/cpu/pointwise/scalar.h"
#include "tensor/op.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace op {

template <class Self>
Spec Binary<Self>::infer(const Tensor& a, const Tensor& b) const {
  if (a.dtype() == boolean && Self::name != Maximum::name && Self::name != Minimum::name)
    check_dtype(a, false, "integers or floating dtypes; cast bool first");
  return {result_view(a.shape(), {&a, &b}), a.dtype()};
}

template <class Self>
Spec WithScalar<Self>::infer(const Tensor& x) const {
  check_dtype(x, x.dtype() != boolean, "integers or floating dtypes; cast bool first");
  return spec_like(x);
}

#define WEFT_BINARY(Op, function)                                             \
  template <>                                                                 \
  void Binary<Op>::run(const Tensor& a, const Tensor& b, Tensor& out) const { \
    cpu::function(operand(a), operand(b), operand(out));                      \
  }                                                                           \
  template Spec Binary<Op>::infer(const Tensor& a, const Tensor& b) const;
WEFT_BINARY(Add, add)
WEFT_BINARY(Sub, sub)
WEFT_BINARY(Mul, mul)
WEFT_BINARY(Div, div)
WEFT_BINARY(Pow, pow)
WEFT_BINARY(Maximum, maximum)
WEFT_BINARY(Minimum, minimum)
#undef WEFT_BINARY

#define WEFT_WITH_SCALAR(Op, function)                           \
  template <>                                                    \
  void WithScalar<Op>::run(const Tensor& x, Tensor& out) const { \
    cpu::function(operand(x), value, operand(out));              \
  }                                                              \
  template Spec WithScalar<Op>::infer(const Tensor& x) const;
WEFT_WITH_SCALAR(AddScalar, add_scalar)
WEFT_WITH_SCALAR(RsubScalar, rsub_scalar)
WEFT_WITH_SCALAR(MulScalar, mul_scalar)
WEFT_WITH_SCALAR(DivScalar, div_scalar)
WEFT_WITH_SCALAR(RdivScalar, rdiv_scalar)
WEFT_WITH_SCALAR(PowScalar, pow_scalar)
WEFT_WITH_SCALAR(RpowScalar, rpow_scalar)
#undef WEFT_WITH_SCALAR

}  // namespace op

namespace detail {

/// PyTorch's rule: a 0-d tensor does not widen within its category.
DType meeting_dtype(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return a.dtype();
  auto category = [](DType d) { return is_floating(d) ? 2 : is_integer(d) ? 1 : 0; };
  const bool same_rank_kind = (a.rank() == 0) == (b.rank() == 0);
  if (!same_rank_kind) {
    const Tensor& wide = a.rank() == 0 ? b : a;
    const Tensor& scalar = a.rank() == 0 ? a : b;
    if (category(wide.dtype()) >= category(scalar.dtype())) return wide.dtype();
  }
  return promote(a.dtype(), b.dtype());
}

std::pair<Tensor, Tensor> meet(const Tensor& a, const Tensor& b) {
  const DType dtype = meeting_dtype(a, b);
  Tensor x = cast(a, dtype);
  Tensor y = cast(b, dtype);
  if (x.shape() != y.shape()) {
    const Shape shape = broadcast_shapes(x.shape(), y.shape());
    if (x.shape() != shape) x = broadcast(x, shape);
    if (y.shape() != shape) y = broadcast(y, shape);
  }
  return {std::move(x), std::move(y)};
}

}  // namespace detail

namespace {

/// -value; the smallest integer wraps like all integer arithmetic.
Scalar negated(const Scalar& value) {
  if (value.is_floating()) return -value.to_double();
  return static_cast<int64_t>(0 - static_cast<uint64_t>(value.to_int()));
}

bool fit(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && a.shape() == b.shape(); }

/// An op of two tensors that meet first.
template <class Op>
Tensor binary(const char* name, const Tensor& a, const Tensor& b) {
  Frame frame(name, a, b);
  if (fit(a, b)) return apply(Op{}, a, b);
  const auto [x, y] = detail::meet(a, b);
  return apply(Op{}, x, y);
}

/// An op of a tensor and a number, in the dtype they meet in (f32 at least where `floating`).
template <class Op>
Tensor with_scalar(const char* name, const Tensor& x, const Scalar& value, bool floating = false) {
  Frame frame(name, x);
  const DType met = promote_scalar(x.dtype(), value);
  const DType dtype = floating && !is_floating(met) ? f32 : met;
  Op op;
  op.value = value;
  return x.dtype() == dtype ? apply(op, x) : apply(op, cast(x, dtype));
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) { return binary<op::Add>("add", a, b); }
Tensor sub(const Tensor& a, const Tensor& b) { return binary<op::Sub>("sub", a, b); }
Tensor mul(const Tensor& a, const Tensor& b) { return binary<op::Mul>("mul", a, b); }

Tensor div(const Tensor& a, const Tensor& b) {
  Frame frame("div", a, b);
  if (fit(a, b) && is_floating(a.dtype())) return apply(op::Div{}, a, b);
  const auto [x, y] = detail::meet(a, b);
  if (is_floating(x.dtype())) return apply(op::Div{}, x, y);
  return apply(op::Div{}, cast(x, f32), cast(y, f32));
}

Tensor add(const Tensor& a, const Scalar& b) { return with_scalar<op::AddScalar>("add", a, b); }
Tensor sub(const Tensor& a, const Scalar& b) { return with_scalar<op::AddScalar>("sub", a, negated(b)); }
Tensor sub(const Scalar& a, const Tensor& b) { return with_scalar<op::RsubScalar>("sub", b, a); }
Tensor mul(const Tensor& a, const Scalar& b) { return with_scalar<op::MulScalar>("mul", a, b); }
Tensor div(const Tensor& a, const Scalar& b) { return with_scalar<op::DivScalar>("div", a, b, true); }
Tensor div(const Scalar& a, const Tensor& b) { return with_scalar<op::RdivScalar>("div", b, a, true); }

Tensor pow(const Tensor& a, const Tensor& b) { return binary<op::Pow>("pow", a, b); }
Tensor pow(const Tensor& a, const Scalar& b) {
  Frame frame("pow", a);
  if (!b.is_floating() && b.to_int() < 0 && !is_floating(a.dtype()))
    throw DtypeError(text("an integer to the power ", b.to_int(), " is no integer; cast to a floating dtype first"));
  return with_scalar<op::PowScalar>("pow", a, b);
}
Tensor pow(const Scalar& a, const Tensor& b) { return with_scalar<op::RpowScalar>("pow", b, a); }
Tensor maximum(const Tensor& a, const Tensor& b) { return binary<op::Maximum>("maximum", a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return binary<op::Minimum>("minimum", a, b); }

namespace {

/// `other` as an operand of an in-place op on `self`: cast only where the result would be wider, broadcast to self.
template <class Op>
Tensor& write(const char* name, Tensor& self, const Tensor& other) {
  Frame frame(name, self, other);
  const DType dtype = detail::meeting_dtype(self, other);
  if (dtype != self.dtype() && is_floating(dtype) && !is_floating(self.dtype()))
    throw DtypeError(text("the result is ", dtype, " and cannot be written in place to ", self.dtype(),
                          "; use the form that returns a new tensor"));
  Tensor fitting = cast(other, self.dtype());
  if (fitting.shape() != self.shape()) fitting = broadcast(fitting, self.shape());
  constexpr bool is_sum = std::same_as<Op, op::Add> || std::same_as<Op, op::Sub>;
  // The gradient of a factor reads the old value of self: it is computed beside it and then copied.
  if (!is_sum && modes().recording && fitting.requires_grad()) {
    const Tensor factor = fitting.shares_storage(self) ? apply(op::Clone{}, fitting) : fitting;
    return apply_in_place(op::CopyFrom{}, name, self, apply(Op{}, apply(op::Clone{}, self), factor));
  }
  return apply_in_place(Op{}, name, self, fitting);
}

template <class Op>
Tensor& write(const char* name, Tensor& self, const Scalar& value) {
  Frame frame(name, self);
  if (value.is_floating() && !is_floating(self.dtype()))
    throw DtypeError(text("a floating result cannot be written in place to ", self.dtype(),
                          "; use the form that returns a new tensor"));
  Op op;
  op.value = value;
  return apply_in_place(op, name, self);
}

void check_divisible(const Tensor& self) {
  if (!is_floating(self.dtype()))
    throw DtypeError(text("a quotient is floating and cannot be written in place to ", self.dtype(), "; use a / b"));
}

}  // namespace

Tensor& Tensor::add_(const Tensor& other) { return write<op::Add>("add_", *this, other); }
Tensor& Tensor::add_(const Scalar& other) { return write<op::AddScalar>("add_", *this, other); }
Tensor& Tensor::sub_(const Tensor& other) { return write<op::Sub>("sub_", *this, other); }
Tensor& Tensor::sub_(const Scalar& other) { return write<op::AddScalar>("sub_", *this, negated(other)); }
Tensor& Tensor::mul_(const Tensor& other) { return write<op::Mul>("mul_", *this, other); }
Tensor& Tensor::mul_(const Scalar& other) { return write<op::MulScalar>("mul_", *this, other); }
Tensor& Tensor::div_(const Tensor& other) {
  Frame frame("div_", *this, other);
  check_divisible(*this);
  return write<op::Div>("div_", *this, other);
}
Tensor& Tensor::div_(const Scalar& other) {
  Frame frame("div_", *this);
  check_divisible(*this);
  return write<op::DivScalar>("div_", *this, other);
}

}  // namespace weft
