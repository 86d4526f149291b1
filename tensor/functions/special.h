// Element-wise special functions and parts of losses: erfinv, frac, lgamma, digamma, i0, i1, i0e, i1e, bessel_j0,
// bessel_j1, bessel_y0, bessel_y1, modified_bessel_k0, modified_bessel_k1, ndtr, log_ndtr, ndtri, erfcx, entr, and
// those below (igamma, igammac, zeta and xlog1py are in binary.h).
// Integers and bool give f32 (except in frac). NaN propagates.
#pragma once

#include <optional>

#include "tensor/functions/unary_rows.h"

namespace weft {

// tensor/ops/special.inc gives the formula of each function.
#define WEFT_UNARY WEFT_UNARY_DECLARATION
#include "tensor/ops/special.inc"
#undef WEFT_UNARY

/// The derivative of digamma of the given order (order 0 is digamma itself). Infinite at the poles 0, -1, ... Error
/// unless 0 <= order <= 170; the gradient takes the next order.
Tensor polygamma(int64_t order, const Tensor& x);
/// The logarithm of the multivariate gamma function: p (p - 1) / 4 log(pi) plus the sum of lgamma(x - i / 2) for i from
/// 0 to p - 1 (NIST Digital Library of Mathematical Functions, 35.3.4). It is defined for x > (p - 1) / 2, which is not
/// checked. Error unless p >= 1.
Tensor mvlgamma(const Tensor& x, int64_t p);
/// sin(pi x) / (pi x), 1 at 0.
Tensor sinc(const Tensor& x);
/// log(x / (1 - x)), the inverse of sigmoid. If `eps` is given, x is first limited to [eps, 1 - eps]; otherwise the
/// result is NaN outside of [0, 1]. Error unless 0 <= eps <= 0.5.
Tensor logit(const Tensor& x, std::optional<double> eps = std::nullopt);
/// log2(2^a + 2^b) without overflow; broadcasts.
Tensor logaddexp2(const Tensor& a, const Tensor& b);
/// 0 where x < 0, 1 where x > 0, `values` where x = 0, and NaN where x is NaN; broadcasts. Only `values` gets a
/// gradient.
Tensor heaviside(const Tensor& x, const Tensor& values);

/// (a - b)^2; broadcasts.
Tensor squared_difference(const Tensor& a, const Tensor& b);
/// (a - b)^2 / 2 where |a - b| <= delta, else delta (|a - b| - delta / 2); broadcasts. Error unless delta > 0.
Tensor huber(const Tensor& a, const Tensor& b, double delta = 1);
/// log(1 + e^x) - x y, the binary cross entropy of the prediction sigmoid(x) and the target y, computed without
/// overflow or cancellation; broadcasts.
Tensor logistic_loss(const Tensor& x, const Tensor& y);

}  // namespace weft
