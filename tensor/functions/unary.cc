#include "tensor/functions/unary.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "tensor/dispatch/in_place.h"
#include "tensor/dispatch/over.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/view.h"
#include "tensor/ops/blend.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/special.h"
#include "tensor/ops/unary.h"

namespace weft {
namespace {

void check_bounds(const std::optional<Scalar>& min, const std::optional<Scalar>& max, DType dtype) {
  if (min && max && min->to_double() > max->to_double())
    throw Error(text("min ", min->to_double(), " is above max ", max->to_double()));
  // A bound beyond the dtype's range on its own side does nothing; beyond the other end nothing could meet it.
  if (min && min->to_double() > 0) check_fits(*min, dtype);
  if (max && max->to_double() < 0) check_fits(*max, dtype);
}

/// The dtype that clip() computes in.
DType clipped_dtype(const Tensor& x, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  DType dtype = x.dtype();
  if (min) dtype = promote_scalar(dtype, *min);
  if (max) dtype = promote_scalar(dtype, *max);
  check_bounds(min, max, dtype);
  return dtype;
}

/// None where no integer of the dtype is above it.
std::optional<Scalar> upper_bound(const std::optional<Scalar>& max, DType dtype) {
  return max && max->exceeds_i64() && !is_floating(dtype) ? std::nullopt : max;
}

/// self = Op(self). A rule may read the old value: where one is recorded, the result is computed beside it and copied.
Tensor& write(const OpInfo& info, const void* op, const char* name, Tensor& self) {
  ErrorFrame frame(name, self);
  const bool recorded = internal::modes().recording && self.requires_grad();
  std::array<Tensor, 1> inputs = {recorded ? clone(self) : self};
  if (!recorded) {
    dispatch::apply_in_place(info, op, name, self, inputs);
    return self;
  }
  Tensor result;
  dispatch::apply_erased(info, op, inputs, {&result, 1});
  return dispatch::apply_in_place(op::CopyFrom{}, name, self, result);
}
template <class Op> Tensor& write(const Op& op, const char* name, Tensor& self) {
  return write(op_info<Op>, &op, name, self);
}

}  // namespace

#define WEFT_UNARY WEFT_UNARY_FUNCTION
#include "tensor/ops/unary.inc"
#undef WEFT_UNARY

namespace {

/// x to the places of `power`, 10 to the number of decimals; 16 bits would not hold x * power.
Tensor round_to(const Tensor& x, double power, bool behind_point) {
  if (is_half_precision(x.dtype())) return cast(round_to(cast(x, f32), power, behind_point), x.dtype());
  const Tensor own = x.detach();
  const bool fits =
      power <= (x.dtype() == f64 ? std::numeric_limits<double>::max() : double{std::numeric_limits<float>::max()});
  if (!fits) return where(isfinite(own), behind_point ? x * 0.0 + own : x * 0.0, own);
  if (!behind_point) return round(x / power) * power;
  const Tensor scaled = x * power;
  return where(isfinite(scaled), round(scaled) / power, own);  // so many decimals x does not have
}

}  // namespace

Tensor round(const Tensor& x, int64_t decimals) {
  ErrorFrame frame("round", x);
  if (!is_floating(x.dtype()) && decimals >= 0) return round(x);
  if (!is_floating(x.dtype()))
    throw DtypeError(text("integers have no ", decimals, " decimals; cast first, e.g. x.to(f64)"));
  if (decimals == 0) return round(x);
  const double power = std::pow(10.0, std::fabs(static_cast<double>(decimals)));
  return round_to(x, power, decimals > 0);
}

Tensor deg2rad(const Tensor& x) {
  ErrorFrame frame("deg2rad", x);
  return x * (std::numbers::pi / 180);
}

Tensor rad2deg(const Tensor& x) {
  ErrorFrame frame("rad2deg", x);
  return x * (180 / std::numbers::pi);
}

Tensor nan_to_num(const Tensor& x, double nan, std::optional<Scalar> posinf, std::optional<Scalar> neginf) {
  ErrorFrame frame("nan_to_num", x);
  return dispatch::apply(op::NanToNum{nan, posinf, neginf}, x);
}

Tensor leaky_relu(const Tensor& x, double slope) {
  ErrorFrame frame("leaky_relu", x);
  return dispatch::apply(op::LeakyRelu{slope}, x);
}

Tensor gelu(const Tensor& x, Gelu form) {
  ErrorFrame frame("gelu", x);
  return dispatch::apply(op::GeluOp{form == Gelu::tanh}, x);
}

Tensor clip(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max) {
  ErrorFrame frame("clip", x);
  const DType dtype = clipped_dtype(x, min, max);
  return dispatch::apply(op::Clip{min, upper_bound(max, dtype)}, cast(x, dtype));
}
Tensor clip(Tensor&& x, std::optional<Scalar> min, std::optional<Scalar> max) {
  ErrorFrame frame("clip", x);
  const DType dtype = clipped_dtype(x, min, max);
  const op::Clip op{min, upper_bound(max, dtype)};
  if (dtype != x.dtype()) return dispatch::apply(op, cast(x, dtype));
  return dispatch::over(x, [&](uint32_t temporaries) { return dispatch::apply_over(op, temporaries, x); });
}

Tensor clip(const Tensor& x, const Tensor& min, const Tensor& max) {
  ErrorFrame frame("clip", x, min, max);
  const DType dtype = dispatch::promoted(std::array{x, min, max});
  return clamp_max(clamp_min(cast(x, dtype), cast(min, dtype)), cast(max, dtype));
}

#define WEFT_MEMBER_IN_PLACE(Op, function) \
  Tensor& Tensor::function##_() { return write(op::Op{}, #function "_", *this); }
WEFT_MEMBERS_IN_PLACE(WEFT_MEMBER_IN_PLACE)
#undef WEFT_MEMBER_IN_PLACE

Tensor& Tensor::clip_(std::optional<Scalar> min, std::optional<Scalar> max) {
  ErrorFrame frame("clip_", *this);
  for (const std::optional<Scalar>& bound : {min, max})
    if (bound && promote_scalar(dtype(), *bound) != dtype())
      throw DtypeError(text("a floating result cannot be written in place to ", dtype(),
                            "; use the form that returns a new tensor"));
  check_bounds(min, max, dtype());
  return write(op::Clip{min, upper_bound(max, dtype())}, "clip_", *this);
}

Tensor& Tensor::lerp_(const Tensor& end, double weight) {
  ErrorFrame frame("lerp_", *this, end);
  const Tensor fitting = end.shape() == shape() ? end : weft::broadcast(end, shape());
  return dispatch::apply_in_place(op::Lerp{{}, weight}, "lerp_", *this, fitting);
}

}  // namespace weft
