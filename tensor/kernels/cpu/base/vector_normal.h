// Functions of the normal distribution, of registers of doubles: but for ndtr those of floats are computed in double as
// well. Within 8 ulp of doubles (tests/tensor/kernels/special_range_test.cc measures them) and 1 of floats (ndtr 2).
#pragma once

#include <limits>
#include <numbers>

#include "tensor/kernels/cpu/base/vector_compensated.h"

namespace weft::kernels::cpu::vmath {

namespace detail {
/// x without its lower 27 bits: products of two such numbers are exact.
template <class V> WEFT_SIMD V upper_half(V x) {
  return std::bit_cast<V>(std::bit_cast<Bits<V>>(x) & ~uint64_t{0x7ffffff});
}

/// e^(factor x^2) of |x| below 2^9: the upper half of x has an exact square, what is left is small.
template <class V> WEFT_SIMD V exp_of_square(V x, double factor) {
  const V upper = upper_half(x);
  const V rest = (x - upper) * (x + upper) * factor, power = exp_of_doubles(upper * upper * factor);
  return power * (1.0 + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6))));
}

/// e^(x^2) erfc(x) of x >= 0: (x + 1/2) times it is a polynomial of (x - 3.75) / (x + 3.75), which maps all of the
/// range to [-1, 1) (M. Shepherd and J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x", 1981).
template <class V> WEFT_SIMD V erfcx_of_sizes(V x) {
  constexpr double kFit[] = {
      -3.66975250426477e-11,   -1.87657913897981e-11,   4.511074850170295e-10,  2.728578652352344e-10,
      -3.2727801062401335e-09, -2.194642079993164e-09,  2.0485611576351503e-08, 1.2144881462744353e-08,
      -1.3057351179950478e-07, -2.9131405394003885e-08, 8.767217125553167e-07,  -4.86424791105561e-07,
      -5.722524562915654e-06,  1.1191956018275339e-05,  2.5824703887731995e-05, -0.00014507698964493382,
      0.00014685679740285369,  0.0008778129162108764,   -0.004873289773809812,  0.0141811387107578,
      -0.02934669929527381,    0.04615216058009917,     -0.05440196507085373,   0.04113836924507551,
      0.001792707742731845,    -0.07012029929277351,    0.6187563154189139};
  const V t = simd::smaller(splat<V>(1e100), x);
  return long_polynomial((t - 3.75) / (t + 3.75), kFit) / (x + 0.5);
}

/// p's quotient of two polynomials, highest first.
template <class V, size_t n, size_t m> WEFT_SIMD V quotient(V x, const double (&p)[n], const double (&q)[m]) {
  return polynomial(x, p) / polynomial(x, q);
}

/// The x at which the distribution function of the normal distribution is p: M. Wichura, "The percentage points of the
/// normal distribution" (algorithm AS 241, PPND16), 1988.
template <class V> WEFT_SIMD V ndtri_of_doubles(V p) {
  constexpr double kMiddle[] = {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
                                45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
                                133.14166789178437745, 3.387132872796366608};
  constexpr double kMiddleUnder[] = {
      5226.495278852854561,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1.0};
  constexpr double kTail[] = {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
                              1.27045825245236838258,   3.64784832476320460504,   5.7694972214606914055,
                              4.6303378461565452959,    1.42343711074968357734};
  constexpr double kTailUnder[] = {
      1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
      0.68976733498510000455,    1.6763848301838038494,   2.05319162663775882187,   1.0};
  constexpr double kFar[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
                             0.026532189526576123093,   0.29656057182850489123,    1.7848265399172913358,
                             5.4637849111641143699,     6.6579046435011037772};
  constexpr double kFarUnder[] = {
      2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
      0.0148753612908506148525,   0.13692988092273580531,   0.59983220655588793769,   1.0};
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const V q = p - 0.5, side = select(q < 0.0, p, 1.0 - p);
  const auto middle = absolute(q) <= 0.425;
  const V near = q * quotient(0.180625 - q * q, kMiddle, kMiddleUnder);
  if (!any_lane(absolute(q) > 0.425)) return near;
  const V r = square_root(-log(side));
  const V tail = select(r <= 5.0, quotient(r - 1.6, kTail, kTailUnder), quotient(r - 5.0, kFar, kFarUnder));
  const V far = with_sign_of(select(side == 0.0, splat<V>(kInf), tail), q);
  return select(middle, near, far);
}
}  // namespace detail

/// e^(x^2) erfc(x); infinite below -26.6.
WEFT_SIMD Doubles erfcx(Doubles x) {
  const Doubles size = absolute(x), right = detail::erfcx_of_sizes(size);
  const auto left = x < 0.0;
  if (!any_lane(left)) return right;
  const Doubles power = detail::exp_of_square(simd::smaller(splat<Doubles>(27.0), size), 1.0);
  return select(left, 2.0 * power - right, right);
}

namespace detail {
/// x / sqrt(2) - `product`, which is that rounded: of doubles by halves, whose products are exact.
WEFT_SIMD Doubles lost_of_root(Doubles x, Doubles product) {
  constexpr double kHigh = 0x1.6a09e6p-1, kLow = 0x1.9fcef34p-27, kMissing = -4.8336466567264567e-17;
  const Doubles upper = upper_half(x), lower = x - upper, near = upper * kHigh - product;
  return (near + (upper * kLow + lower * kHigh)) + (lower * kLow + x * kMissing);
}
template <class V> WEFT_SIMD V lost_of_root(V x, V product) {
  return fused(x, splat<V>(0.70710678f), -product) + x * 1.21016175e-8f;
}
}  // namespace detail

/// The distribution function of the normal distribution, erfc(-x / sqrt(2)) / 2, of floats or doubles. In the tail, the
/// rounding of t = -x / sqrt(2) would cause a large relative error: it is corrected by the derivative, in which
/// 2 / (sqrt(pi) erfcx(t)) is close to t + sqrt(t^2 + 4 / pi) (M. Abramowitz and I. Stegun, 7.1.13).
template <class V> WEFT_SIMD V ndtr(V x) {
  using T = Lane<V>;
  const V near = simd::smaller(splat<V>(T(50)), simd::larger(splat<V>(T(-50)), x));  // beyond it is 0 or 1
  const V t = near * T(-1 / std::numbers::sqrt2), lost = -detail::lost_of_root(near, -t);
  const V slope = t + square_root(t * t + T(4 * std::numbers::inv_pi));
  return erfc(t) * (T(0.5) - T(0.5) * (lost * slope));
}

/// log(ndtr(x)). For x < 0 it is -x^2 / 2 plus the logarithm of a number between 0 and 1/2: both are negative.
WEFT_SIMD Doubles log_ndtr(Doubles x) {
  const Doubles size = absolute(x), share = detail::erfcx_of_sizes(size * (1 / std::numbers::sqrt2)) * 0.5;
  const Doubles tail = detail::exp_of_square(simd::smaller(splat<Doubles>(40.0), size), -0.5) * share;
  const Doubles square = x * (x * 0.5), from_one = simd::larger(splat<Doubles>(-1 + 0x1p-53), share - 1.0);
  const auto left = x < 0.0;
  return log1p(select(left, from_one, -tail)) - select(left, square, Doubles{});
}

/// The derivative of log_ndtr: the density of the normal distribution divided by its distribution function.
WEFT_SIMD Doubles log_ndtr_slope(Doubles x) {
  constexpr double kRoot = 0.79788456080286536;  // of 2 / pi
  const Doubles size = absolute(x), right = detail::erfcx_of_sizes(size * (1 / std::numbers::sqrt2));
  const Doubles power = detail::exp_of_square(simd::smaller(splat<Doubles>(40.0), size), -0.5);
  return select(x < 0.0, kRoot / right, power * kRoot / (2.0 - power * right));
}

/// The x whose ndtr is p; NaN outside of [0, 1].
WEFT_SIMD Doubles ndtri(Doubles p) { return detail::ndtri_of_doubles(p); }

}  // namespace weft::kernels::cpu::vmath
