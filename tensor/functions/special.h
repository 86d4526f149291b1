// Special functions and parts of losses, element by element: erfinv, frac, lgamma, digamma, i0, i1, i0e, i1e, and
// those below. Integers and bool become f32 (but for frac); NaN propagates.
#pragma once

#include <optional>

#include "tensor/functions/unary_rows.h"

namespace weft {

// The formulas are beside the rows.
#define WEFT_UNARY WEFT_UNARY_DECLARATION
#include "tensor/ops/special.inc"
#undef WEFT_UNARY

/// Derivative number `order` of digamma, which is order 0; infinite at the poles 0, -1, ... Error for order < 0.
Tensor polygamma(int64_t order, const Tensor& x);
/// sin(pi x) / (pi x), 1 at 0.
Tensor sinc(const Tensor& x);
/// log(x / (1 - x)), the inverse of sigmoid; x is first limited to [eps, 1 - eps] where `eps` is given, else NaN
/// outside of [0, 1]. Error unless 0 <= eps <= 0.5.
Tensor logit(const Tensor& x, std::optional<double> eps = std::nullopt);
/// log2(2^a + 2^b) without overflow; broadcasts.
Tensor logaddexp2(const Tensor& a, const Tensor& b);
/// 0 below 0, 1 above it, `values` at 0 (NaN at NaN); broadcasts. The gradient goes to `values` alone.
Tensor heaviside(const Tensor& x, const Tensor& values);

/// (a - b)^2; broadcasts.
Tensor squared_difference(const Tensor& a, const Tensor& b);
/// (a - b)^2 / 2 up to |a - b| = delta, delta (|a - b| - delta / 2) beyond; broadcasts. Error unless delta > 0.
Tensor huber(const Tensor& a, const Tensor& b, double delta = 1);
/// log(1 + e^x) - x y, without overflow or cancellation: the cross entropy of sigmoid(x) where y is the truth;
/// broadcasts.
Tensor logistic_loss(const Tensor& x, const Tensor& y);

}  // namespace weft
