#include "tensor/functions/binary.h"

#include <array>
#include <cmath>
#include <limits>

#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/dispatch/over.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/copy.h"

namespace weft {
namespace {

/// Whether `x` is a floating tensor without axes beside a bf16 or f16 tensor with axes. It does not widen the result,
/// but is computed with in f32, as a number is: h * tensor(70000.f) is h * 70000.0, not h * inf.
bool is_number_beside(const Tensor& half, const Tensor& x) {
  return x.rank() == 0 && half.rank() > 0 && is_half_precision(half.dtype()) && (x.dtype() == f32 || x.dtype() == f64);
}

/// An op of two tensors whose dtypes differ.
template <class Op> [[gnu::noinline]] Tensor mixed(const Op& op, const Tensor& a, const Tensor& b) {
  const bool right = is_number_beside(a, b);
  const bool full = Op::policy.autocast == Autocasting::full && internal::modes().autocast != f32;
  if (full || !(right || is_number_beside(b, a))) return dispatch::apply(op, a, b);
  const DType half = (right ? a : b).dtype();
  dispatch::check_accepted(half, Op::policy.accepts);
  return cast(dispatch::apply(op, cast(a, f32), cast(b, f32)), half);
}

/// An op of two tensors; bit i of `temporaries`: the caller's last handle of operand i.
template <class Op, class Temporaries> Tensor binary(Temporaries temporaries, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) [[unlikely]]
    return mixed(Op{}, a, b);
  return dispatch::apply_over(Op{}, temporaries, a, b);
}

/// Error for an unsigned number that i64 does not hold beside integers.
void check_range(const Tensor& x, const Scalar& value) {
  if (value.exceeds_i64() && !is_floating(x.dtype())) check_fits(value, promote_scalar(x.dtype(), value));
}

bool are_bool(const Tensor& x, const Scalar& value) { return x.dtype() == boolean && value.kind() == boolean; }

/// An op of a tensor and a number, in their promoted dtype.
template <class Op, class Temporaries>
Tensor with_scalar(Temporaries temporaries, const Tensor& x, const Scalar& value) {
  if constexpr (!std::same_as<Op, op::DivScalar> && !std::same_as<Op, op::RdivScalar>) check_range(x, value);
  if constexpr (std::same_as<Op, op::PowScalar>)
    if (!value.is_floating() && value.to_int() < 0 && !is_floating(x.dtype()))
      throw DtypeError(
          text("an integer to the power ", value.to_int(), " is not an integer; cast to a floating dtype first"));
  if constexpr (std::same_as<Op, op::AddScalar> || std::same_as<Op, op::MulScalar>)
    if (are_bool(x, value)) {  // or, and
      using OfTensors = std::conditional_t<std::same_as<Op, op::AddScalar>, op::Add, op::Mul>;
      return dispatch::apply(OfTensors{}, x, full({}, value, boolean, x.device()));
    }
  const DType dtype = promote_scalar(x.dtype(), value);
  return x.dtype() == dtype ? dispatch::apply_over(Op{value}, temporaries, x)
                            : dispatch::apply(Op{value}, cast(x, dtype));
}

/// The number as a tensor without axes, of the dtype that it gives the `x` that Op computes with (f32 beside bf16 and
/// f16, which it does not widen).
template <class Op> Tensor number_beside(const Tensor& x, const Scalar& value) {
  const bool widens = Op::policy.widens_integers && !is_floating(x.dtype());
  const DType dtype = promote_scalar(widens ? f32 : x.dtype(), value);
  return full({}, value, is_half_precision(dtype) && x.rank() > 0 ? f32 : dtype, x.device());
}

/// -value, to be added to `x`. Of a floating x it is exact: -0 - 0 is -0, and the smallest integer has an opposite.
/// Beside integers that one wraps like all integer arithmetic.
Scalar negated(const Tensor& x, const Scalar& value) {
  if (are_bool(x, value))
    throw DtypeError("bool is not accepted here; it takes integers or floating dtypes; cast bool first");
  check_range(x, value);
  if (value.is_floating() || is_floating(x.dtype())) return -value.to_double();
  return static_cast<int64_t>(0 - static_cast<uint64_t>(value.to_int()));
}

}  // namespace

#define WEFT_BINARY(Op, function, policy)                                                                    \
  Tensor function(const Tensor& a, const Tensor& b) {                                                        \
    ErrorFrame frame(#function, a, b);                                                                       \
    return binary<op::Op>(dispatch::NoTemporaries{}, a, b);                                                  \
  }                                                                                                          \
  Tensor function(Tensor&& a, const Tensor& b) {                                                             \
    ErrorFrame frame(#function, a, b);                                                                       \
    return dispatch::over(a, [&](uint32_t) { return binary<op::Op>(1u, a, b); });                            \
  }                                                                                                          \
  Tensor function(const Tensor& a, Tensor&& b) {                                                             \
    ErrorFrame frame(#function, a, b);                                                                       \
    return dispatch::over(b, [&](uint32_t) { return binary<op::Op>(2u, a, b); });                            \
  }                                                                                                          \
  Tensor function(Tensor&& a, Tensor&& b) {                                                                  \
    ErrorFrame frame(#function, a, b);                                                                       \
    return dispatch::over(3, a, b, [&](uint32_t temporaries) { return binary<op::Op>(temporaries, a, b); }); \
  }
#define WEFT_BINARY_OR_NUMBER(Op, function, policy)                                   \
  WEFT_BINARY(Op, function, policy)                                                   \
  Tensor function(const Tensor& a, const Scalar& b) {                                 \
    ErrorFrame frame(#function, a);                                                   \
    return binary<op::Op>(dispatch::NoTemporaries{}, a, number_beside<op::Op>(a, b)); \
  }                                                                                   \
  Tensor function(const Scalar& a, const Tensor& b) {                                 \
    ErrorFrame frame(#function, b);                                                   \
    return binary<op::Op>(dispatch::NoTemporaries{}, number_beside<op::Op>(b, a), b); \
  }
#define WEFT_SCALAR_FUNCTION(Op, function, x, value, ...)            \
  Tensor function(__VA_ARGS__) {                                     \
    ErrorFrame frame(#function, x);                                  \
    return with_scalar<op::Op>(dispatch::NoTemporaries{}, x, value); \
  }
#define WEFT_SCALAR_FUNCTION_OVER(Op, function, x, value, ...)                                                  \
  Tensor function(__VA_ARGS__) {                                                                                \
    ErrorFrame frame(#function, x);                                                                             \
    return dispatch::over(x, [&](uint32_t temporaries) { return with_scalar<op::Op>(temporaries, x, value); }); \
  }
#define WEFT_WITH_SCALAR(Op, function, policy)                               \
  WEFT_SCALAR_FUNCTION(Op, function, a, b, const Tensor& a, const Scalar& b) \
  WEFT_SCALAR_FUNCTION_OVER(Op, function, a, b, Tensor&& a, const Scalar& b)
#define WEFT_SCALAR_WITH(Op, function, policy)                               \
  WEFT_SCALAR_FUNCTION(Op, function, b, a, const Scalar& a, const Tensor& b) \
  WEFT_SCALAR_FUNCTION_OVER(Op, function, b, a, const Scalar& a, Tensor&& b)
#include "tensor/ops/binary.inc"
WEFT_SCALAR_FUNCTION(AddScalar, sub, a, negated(a, b), const Tensor& a, const Scalar& b)
WEFT_SCALAR_FUNCTION_OVER(AddScalar, sub, a, negated(a, b), Tensor&& a, const Scalar& b)

namespace {

bool is_one_floating(const Tensor& a, const Tensor& b) { return is_floating(a.dtype()) || is_floating(b.dtype()); }

/// alpha b in the dtype of a + b, both of integers or bool. (A floating alpha would make a floating sum of them.)
Tensor scaled(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  if (alpha.is_floating())
    throw DtypeError(text("alpha is ", alpha.to_double(), "; it takes an integer beside tensors of integers"));
  const DType dtype = dispatch::promoted(std::array{a, b});
  return cast(cast(b, dtype) * alpha, dtype);  // a multiple of bool is i64: true where neither factor is 0
}

/// a + alpha b of floating tensors.
Tensor add_scaled(const Tensor& a, const Tensor& b, double alpha) {
  const op::AddScaled op{{}, alpha};
  return a.dtype() == b.dtype() ? dispatch::apply(op, a, b) : mixed(op, a, b);
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  ErrorFrame frame("add", a, b);
  return is_one_floating(a, b) ? add_scaled(a, b, alpha.to_double()) : a + scaled(a, b, alpha);
}

Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  ErrorFrame frame("sub", a, b);
  return is_one_floating(a, b) ? add_scaled(a, b, -alpha.to_double()) : a - scaled(a, b, alpha);
}

#undef WEFT_SCALAR_FUNCTION
#undef WEFT_SCALAR_FUNCTION_OVER

namespace {

/// Whether the gradient of the first operand reads its value.
template <class Op>
constexpr bool kReadsFirst = std::same_as<Op, op::Atan2> || std::same_as<Op, op::Hypot> ||
                             std::same_as<Op, op::Xlogy> || std::same_as<Op, op::Copysign>;

/// self = op(self, other), where `other` has the dtype of the result.
template <class Op> Tensor& write_alike(const Op& op, const char* name, Tensor& self, const Tensor& other) {
  const Tensor fitting = other.shape() == self.shape() ? other : broadcast(other, self.shape());
  constexpr bool is_sum = std::same_as<Op, op::Add> || std::same_as<Op, op::Sub> || std::same_as<Op, op::AddScaled>;
  // A gradient reads the old value of self, as that of a factor does: the result is computed beside it and then copied.
  const bool read = (!is_sum && fitting.requires_grad()) || (kReadsFirst<Op> && self.requires_grad());
  if (internal::modes().recording && read) {
    const Tensor factor = fitting.shares_storage(self) ? clone(fitting) : fitting;
    return dispatch::apply_in_place(op::CopyFrom{}, name, self, dispatch::apply(op, clone(self), factor));
  }
  return dispatch::apply_in_place(op, name, self, fitting);
}

/// Where the dtypes differ: in the promoted dtype, cast to self's at the end.
template <class Op>
[[gnu::noinline]] Tensor& write_mixed(const Op& op, const char* name, Tensor& self, const Tensor& other) {
  (void)other.layout().broadcast(self.shape());  // throws where the result would be larger than self
  std::array<Tensor, 2> inputs = {self, other};
  dispatch::prepare(op_info<Op>, inputs);
  const DType dtype = inputs[0].dtype();
  dispatch::check_category(dtype, self.dtype());
  if (is_number_beside(self, other))
    return dispatch::apply_in_place(op::CopyFrom{}, name, self, mixed(op, self, other));
  return write_alike(op, name, self, inputs[1]);
}

template <class Op> Tensor& write(const char* name, Tensor& self, const Tensor& other, const Op& op = {}) {
  ErrorFrame frame(name, self, other);
  return other.dtype() == self.dtype() ? write_alike(op, name, self, other) : write_mixed(op, name, self, other);
}

template <class Op> Tensor& write(const char* name, Tensor& self, const Scalar& value) {
  ErrorFrame frame(name, self);
  check_range(self, value);
  if (value.is_floating() && !is_floating(self.dtype()))
    throw DtypeError(text("a floating result cannot be written in place to ", self.dtype(),
                          "; use the form that returns a new tensor"));
  return dispatch::apply_in_place(Op{value}, name, self);
}

void check_divisible(const Tensor& self) {
  if (!is_floating(self.dtype()))
    throw DtypeError(text("a quotient is floating and cannot be written in place to ", self.dtype(), "; use a / b"));
}

template <class B> Tensor rounded_quotient(const Tensor& a, const B& b, std::string_view mode) {
  if (mode == "floor") return floor_divide(a, b);
  if (mode == "trunc") return trunc_divide(a, b);
  throw Error(text("rounding_mode is \"floor\" or \"trunc\", not \"", mode, '"'));
}

}  // namespace

Tensor div(const Tensor& a, const Tensor& b, std::string_view rounding_mode) {
  ErrorFrame frame("div", a, b);
  return rounded_quotient(a, b, rounding_mode);
}
Tensor div(const Tensor& a, const Scalar& b, std::string_view rounding_mode) {
  ErrorFrame frame("div", a);
  return rounded_quotient(a, b, rounding_mode);
}

Tensor gcd(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("gcd", a, b);
  const DType dtype = dispatch::promoted(std::array{a, b});
  dispatch::check_accepted(dtype, kIntegers);
  const Shape shape = broadcast_shapes(a.shape(), b.shape());
  Tensor x = abs(broadcast(cast(a, dtype), shape)), y = abs(broadcast(cast(b, dtype), shape));
  // Euclid's steps, for all elements until the last one is done.
  while (any(dispatch::all_samples(y != 0)).item<bool>()) {
    const Tensor done = y == 0, rest = fmod(x, where(done, 1, y));
    x = where(done, x, y), y = where(done, y, rest);
  }
  return abs(x);
}

Tensor lcm(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("lcm", a, b);
  const Tensor common = gcd(a, b), none = common == 0;
  return where(none, 0, abs(floor_divide(a, where(none, 1, common)) * b));
}

Tensor float_power(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("float_power", a, b);
  return pow(cast(a, f64), cast(b, f64));
}
Tensor float_power(const Tensor& a, double b) {
  ErrorFrame frame("float_power", a);
  return pow(cast(a, f64), b);
}

DType result_type(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("result_type", a, b);
  return dispatch::promoted(std::array{a, b});
}

namespace {

/// x 2^exponents, exactly, in two steps: the factor for the smallest number is more than its dtype holds.
Tensor shifted(const Tensor& x, const Tensor& exponents) {
  const Tensor half = floor(exponents * 0.5);
  return x * exp2(half) * exp2(exponents - half);
}

}  // namespace

FrexpResult frexp(const Tensor& x) {
  ErrorFrame frame("frexp", x);
  dispatch::check_accepted(x.dtype(), kFloating);
  const DType dtype = is_half_precision(x.dtype()) ? f32 : x.dtype();
  const Tensor wide = cast(x, dtype), own = abs(detach(wide));
  const Tensor has_one = logical_and(own > 0.0, own < std::numeric_limits<double>::infinity());
  const Tensor size = where(has_one, own, 1.0);
  // Where log2() may be inexact, as of subnormal numbers, it takes the number times 2^shift.
  const double shift = dtype == f64 ? 100 : 50;
  const Tensor small = size < (dtype == f64 ? 0x1p-1000 : 0x1p-100);
  Tensor exponent = floor(log2(where(small, size * std::exp2(shift), size))) - where(small, shift - 1, -1.0);
  // In [0.5, 1), unless log2() was rounded to a whole number.
  const Tensor mantissa = shifted(size, -exponent);
  exponent = std::move(exponent) + cast(mantissa >= 1.0, dtype) - cast(mantissa < 0.5, dtype);
  exponent = where(has_one, exponent, 0.0);
  return {cast(shifted(wide, -exponent), x.dtype()), cast(exponent, i32)};
}

namespace {

/// The powers of two with exponents from minus this one up to it are normal numbers of the dtype.
double normal_exponents(DType dtype) { return dtype == f64 ? 1022 : 126; }

bool are_normal_exponents(const Tensor& exponents) {
  return norm(dispatch::all_samples(exponents), std::numeric_limits<double>::infinity()).item<double>() <=
         normal_exponents(exponents.dtype());
}

/// x 2^exponents where the power may be beyond the range of the dtype, though the product is not: the product of x and
/// three powers. The largest one is the last factor, so that a subnormal product is rounded once.
Tensor shifted_far(const Tensor& x, const Tensor& exponents) {
  const double most = normal_exponents(x.dtype());
  const Tensor fixed = detach(exponents), last = clip(fixed, -most, most), rest = fixed - last;
  const Tensor middle = clip(rest, -most, most), first = rest - middle, endless = isinf(first);
  const Tensor product = x * exp2(where(endless, first, clip(first, -most, most))) * exp2(middle) * exp2(last);
  if (!dispatch::may_need_gradient(exponents)) return product;
  // A factor 1, whose derivatives make those of the product by the exponents, which may be finite where a power is not.
  return product * exp2(where(isfinite(fixed), exponents - fixed, 0.0));
}

}  // namespace

Tensor ldexp(const Tensor& x, const Tensor& exponents) {
  ErrorFrame frame("ldexp", x, exponents);
  const DType promoted = dispatch::promoted(std::array{x, exponents}), dtype = is_floating(promoted) ? promoted : f32;
  const DType wide = is_half_precision(dtype) ? f32 : dtype;
  const Tensor number = cast(x, wide), shifts = cast(exponents, wide);
  return cast(are_normal_exponents(shifts) ? number * exp2(shifts) : shifted_far(number, shifts), dtype);
}

Tensor& Tensor::add_(const Tensor& other) { return write<op::Add>("add_", *this, other); }
Tensor& Tensor::add_(const Scalar& other) {
  if (are_bool(*this, other)) return add_(full({}, other, boolean, device()));
  return write<op::AddScalar>("add_", *this, other);
}
Tensor& Tensor::add_(const Tensor& other, const Scalar& alpha) {
  ErrorFrame frame("add_", *this, other);
  if (!is_one_floating(*this, other)) return add_(scaled(*this, other, alpha));
  return write("add_", *this, other, op::AddScaled{{}, alpha.to_double()});
}
Tensor& Tensor::sub_(const Tensor& other) { return write<op::Sub>("sub_", *this, other); }
Tensor& Tensor::sub_(const Scalar& other) {
  ErrorFrame frame("sub_", *this);
  return write<op::AddScalar>("sub_", *this, negated(*this, other));
}
Tensor& Tensor::sub_(const Tensor& other, const Scalar& alpha) {
  ErrorFrame frame("sub_", *this, other);
  if (!is_one_floating(*this, other)) return sub_(scaled(*this, other, alpha));
  return write("sub_", *this, other, op::AddScaled{{}, -alpha.to_double()});
}
Tensor& Tensor::mul_(const Tensor& other) { return write<op::Mul>("mul_", *this, other); }
Tensor& Tensor::mul_(const Scalar& other) {
  if (are_bool(*this, other)) return mul_(full({}, other, boolean, device()));
  return write<op::MulScalar>("mul_", *this, other);
}
Tensor& Tensor::div_(const Tensor& other) {
  ErrorFrame frame("div_", *this, other);
  check_divisible(*this);
  return write<op::Div>("div_", *this, other);
}
Tensor& Tensor::div_(const Scalar& other) {
  ErrorFrame frame("div_", *this);
  check_divisible(*this);
  return write<op::DivScalar>("div_", *this, other);
}

#define WEFT_BINARY_MEMBER_IN_PLACE(Op, function)                                                         \
  Tensor& Tensor::function##_(const Tensor& other) { return write<op::Op>(#function "_", *this, other); } \
  Tensor& Tensor::function##_(const Scalar& other) {                                                      \
    ErrorFrame frame(#function "_", *this);                                                               \
    return write<op::Op>(#function "_", *this, number_beside<op::Op>(*this, other));                      \
  }
WEFT_BINARY_MEMBERS_IN_PLACE(WEFT_BINARY_MEMBER_IN_PLACE)
#undef WEFT_BINARY_MEMBER_IN_PLACE

#define WEFT_COMPOUND_MEMBER(sign, Op)                                                               \
  Tensor& Tensor::operator sign(const Tensor& other)& { return write<op::Op>(#sign, *this, other); } \
  Tensor& Tensor::operator sign(const Scalar& other)& {                                              \
    ErrorFrame frame(#sign, *this);                                                                  \
    return write<op::Op>(#sign, *this, number_beside<op::Op>(*this, other));                         \
  }
WEFT_COMPOUND(WEFT_COMPOUND_MEMBER)
#undef WEFT_COMPOUND_MEMBER

}  // namespace weft
