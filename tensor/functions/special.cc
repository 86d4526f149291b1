#include "tensor/functions/special.h"

#include <array>
#include <cmath>
#include <numbers>

#include "tensor/adjoints/special.h"
#include "tensor/dispatch/over.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/special.h"

namespace weft {

#define WEFT_UNARY WEFT_UNARY_FUNCTION
#include "tensor/ops/special.inc"
#undef WEFT_UNARY

Tensor polygamma(int64_t order, const Tensor& x) {
  ErrorFrame frame("polygamma", x);
  if (order < 0) throw Error(text("order ", order, " is below 0"));
  if (order > 170) throw Error(text("order ", order, " is above 170, the largest number whose factorial f64 holds"));
  return order == 0 ? digamma(x) : dispatch::apply(op::Polygamma{order}, x);
}

Tensor mvlgamma(const Tensor& x, int64_t p) {
  ErrorFrame frame("mvlgamma", x);
  if (p < 1) throw Error(text("p = ", p, " must be at least 1"));
  if (is_half_precision(x.dtype())) return cast(mvlgamma(cast(x, f32), p), x.dtype());  // rounded once
  Tensor sum = lgamma(x) + static_cast<double>(p) * static_cast<double>(p - 1) * std::log(std::numbers::pi) / 4;
  for (int64_t i = 1; i < p; ++i) sum = std::move(sum) + lgamma(x - static_cast<double>(i) / 2);
  return sum;
}

Tensor sinc(const Tensor& x) {
  ErrorFrame frame("sinc", x);
  // 16 bits hold no angle to take the sine of.
  const bool is_narrow = is_half_precision(x.dtype());
  const Tensor angle = (is_narrow ? cast(x, f32) : x) * std::numbers::pi;
  // Near 0 the gradient of the quotient is a difference of large numbers: the series is exact up to 0.3 in f64.
  const Tensor near_zero = abs(angle) < 0.3, small = square(where(near_zero, angle, 0.0));
  Tensor series = 1.0 - small * (1 / 110.0);
  for (const double next : {1 / 72.0, 1 / 42.0, 1 / 20.0, 1 / 6.0}) series = 1.0 - small * next * std::move(series);
  const Tensor divisor = where(near_zero, 1.0, angle);
  const Tensor out = where(near_zero, series, sin(divisor) / divisor);
  return is_narrow ? cast(out, x.dtype()) : out;
}

Tensor logit(const Tensor& x, std::optional<double> eps) {
  ErrorFrame frame("logit", x);
  if (eps && !(*eps >= 0 && *eps <= 0.5)) throw Error(text("eps = ", *eps, " must lie between 0 and 0.5"));
  if (eps && is_half_precision(x.dtype())) return cast(logit(cast(x, f32), eps), x.dtype());  // which hold 1 - eps
  const Tensor p = eps ? clip(x, *eps, 1 - *eps) : x;
  return log(p) - log1p(p * -1.0);
}

Tensor logaddexp2(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("logaddexp2", a, b);
  const DType dtype = dispatch::promoted(std::array{a, b});
  if (is_half_precision(dtype)) return cast(logaddexp2(cast(a, f32), cast(b, f32)), dtype);  // rounded once
  return logaddexp(cast(a, dtype) * std::numbers::ln2, cast(b, dtype) * std::numbers::ln2) * std::numbers::log2e;
}

Tensor adjoint::log_ndtr_slope(const Tensor& x) { return dispatch::apply(op::LogNdtrSlope{}, x); }
Tensor adjoint::gamma_density(const Tensor& a, const Tensor& x) { return dispatch::apply(op::GammaDensity{}, a, x); }

Tensor squared_difference(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("squared_difference", a, b);
  return dispatch::apply(op::SquaredDifference{}, a, b);
}

Tensor huber(const Tensor& a, const Tensor& b, double delta) {
  ErrorFrame frame("huber", a, b);
  if (!(delta > 0)) throw Error(text("delta must be positive, not ", delta));
  return dispatch::apply(op::Huber{{}, delta}, a, b);
}

Tensor logistic_loss(const Tensor& x, const Tensor& y) {
  ErrorFrame frame("logistic_loss", x, y);
  return dispatch::apply(op::LogisticLoss{}, x, y);
}

Tensor heaviside(const Tensor& x, const Tensor& values) {
  ErrorFrame frame("heaviside", x, values);
  const Tensor s = sign(x.detach());
  return where(s == 0, values, where(s < 0, zeros_like(s), s));
}

}  // namespace weft
