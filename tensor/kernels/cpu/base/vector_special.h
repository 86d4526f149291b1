// Special functions of registers of floats, computed in double: within 1 ulp, but near the zeros of lgamma and digamma
// below 0, where they are within 1e-8. Polynomials are Chebyshev fits with a relative error below 1e-8.
#pragma once

#include <array>
#include <numbers>
#include <vector>

#include "tensor/kernels/cpu/base/vector_functions.h"

namespace weft::kernels::cpu::vmath {

namespace detail {
template <class V> WEFT_SIMD V log_of_doubles(V x) { return log2_of_doubles(x) * 0.69314718055994531; }
template <class V> WEFT_SIMD V exp_to_float(V x) { return exp2_of_doubles(x * 1.4426950408889634); }

/// x <= 0 less the nearest integer (large floats are even), and the sine and cosine of pi times that: Taylor's series,
/// or exact.
template <class V> struct Turn { V rest, sine, cosine; };
template <bool exact = false, class V> WEFT_SIMD Turn<V> turn_of(V x) {
  constexpr double kRounder = FloatFormat<double>::kRounder, kPi = std::numbers::pi;
  x = simd::larger(splat<V>(exact ? -0x1p51 : -0x1p40), x);
  const V r = x - ((x + kRounder) - kRounder), a = r * kPi, z = a * a;
  if constexpr (exact) return {r, sin(a), cos(a)};
  constexpr double kSine[] = {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0};
  constexpr double kCosine[] = {-1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320,
                                -1.0 / 720,         1.0 / 24,        -0.5,           1.0};
  return {r, polynomial(z, kSine) * a, polynomial(z, kCosine)};
}

/// log |Gamma(x)|: Stirling's series from 3.5 on (M. Abramowitz and I. Stegun, 6.1.41), below it (x - 2) times a fit on
/// [1.5, 3.5), to which x steps up (6.1.15); reflection below 0 (6.1.17).
template <class V> WEFT_SIMD V lgamma_of_doubles(V x) {
  constexpr double kPi = std::numbers::pi, kInf = std::numeric_limits<double>::infinity();
  const V t = select(x < 0.0, 1.0 - x, x), one = splat<V>(1.0);
  const V y = select(t < 0.5, t + 2.0, select(t < 1.5, t + 1.0, t));
  const V stepped = select(t < 0.5, t * (t + 1.0), select(t < 1.5, t, one));
  constexpr double kFit[] = {-1.034466769007743e-06,  2.7949821858522727e-06,  -4.2481726177185858e-06,
                             1.1837336980512618e-05,  -3.7690734531146011e-05, 0.00010800149498042717,
                             -0.00031495849040455556, 0.00096082879777677373,  -0.003095195050034296,
                             0.010877035583075406,    -0.044805842239475605,   0.26758179817591271,
                             0.56936574094583836};
  constexpr double kSeries[] = {1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
  const V inverse = 1.0 / simd::larger(splat<V>(3.5), t), log = log_of_doubles(select(t < 3.5, stepped, t));
  const V series = polynomial(inverse * inverse, kSeries) * inverse + 0.91893853320467274;  // log(2 pi) / 2
  const V size = select(t < 3.5, (y - 2.0) * polynomial(y - 2.5, kFit) - log, (t - 0.5) * log - t + series);
  const V sine = absolute(turn_of(x).sine), value = select(x < 0.0, log_of_doubles(kPi / sine) - size, size);
  const auto pole = (x == 0.0) | ((x < 0.0) & (sine == 0.0)) | (absolute(x) == kInf);
  return select(x == x, select(pole, splat<V>(kInf), value), x);
}

/// The derivative of log Gamma(x): an asymptotic series from 3.5 on (M. Abramowitz and I. Stegun, 6.3.18), below it (x
/// less the zero) times a fit on [1, 3.5), to which x steps up (6.3.5); reflection below 0 (6.3.7).
template <class V> WEFT_SIMD V digamma_of_doubles(V x) {
  constexpr double kPi = std::numbers::pi, kInf = std::numeric_limits<double>::infinity();
  const V t = select(x < 0.0, 1.0 - x, x), y = select(t < 1.0, t + 1.0, t);
  constexpr double kFit[] = {
      -6.4896332261130041e-06, 1.4606661487445044e-05, 7.6789338760517884e-06,  -1.7255500387425797e-05,
      -6.4232843339612721e-05, 0.00014484404352540643, -0.00019080226434625415, 0.00043274165125041183,
      -0.0010849841593283756,  0.0024809303445671384,  -0.0056810119495924955,  0.013280587701620709,
      -0.031767302491337725,   0.079135154312978934,   -0.21425737781615115,    0.72624278184959579};
  constexpr double kSeries[] = {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12};
  const V large = simd::larger(splat<V>(3.5), t), inverse = 1.0 / large, z = inverse * inverse;
  const V far = log_of_doubles(large) - 0.5 * inverse - polynomial(z, kSeries) * z;
  const V near = (y - 1.46163214496836234) * polynomial(y - 2.25, kFit);
  const V size = select(t < 3.5, near - select(t < 1.0, 1.0 / t, V{}), far);
  const auto [rest, sine, cosine] = turn_of(x);
  const V below = select(rest == 0.0, splat<V>(std::numeric_limits<double>::quiet_NaN()), size - kPi * cosine / sine);
  const V value = select(x < 0.0, below, select(x == kInf, x, size));
  return select(x == 0.0, -1.0 / x, select(x == x, value, x));
}

/// Bernoulli number 2 m over (2 m)!, m = 1, 2, ...: the factors of Euler and Maclaurin's corrections.
inline constexpr double kEulerMaclaurin[] = {1.0 / 12,
                                             -1.0 / 720,
                                             1.0 / 30240,
                                             -1.0 / 1209600,
                                             1.0 / 47900160,
                                             -691.0 / 1307674368000.0,
                                             1.0 / 74724249600.0,
                                             -3617.0 / 10670622842880000.0,
                                             43867.0 / 5109094217170944000.0,
                                             -174611.0 / 802857662698291200000.0};

/// `terms` of the sum of (t + k)^-(n + 1) over k >= 0, then Euler and Maclaurin's corrections, whose error is the first
/// term left out: below 1e-8 with 4 terms, 1e-14 with 12. t > 0.
template <int terms, class V> WEFT_SIMD V hurwitz_zeta(int64_t n, V t) {
  const double order = static_cast<double>(n), s = order + 1;
  V sum{}, inverse{}, before{}, term{};
  for (int k = 0;; ++k) {
    inverse = 1.0 / (t + static_cast<double>(k)), before = inverse;
    for (int64_t i = 1; i < n; ++i) before = before * inverse;
    term = before * inverse;  // (t + k)^-s
    if (k == terms) break;
    sum += term;
  }
  sum += before * (1 / order) + term * 0.5;
  const V z = inverse * inverse;
  V factor = term * inverse * s;
  double k = 1;
  for (int m = 0; m < (terms > 4 ? 10 : 6); ++m, k += 2) {
    sum += factor * kEulerMaclaurin[m];
    factor *= z * ((s + k) * (s + k + 1));
  }
  return sum;
}

/// Derivative n of cot(x) is a polynomial of c = cot(x), as c' = -(1 + c^2): its coefficients, highest first.
inline std::vector<double> cotangent_derivative(int64_t n) {
  std::vector<double> p = {0, 1};  // of c, lowest first
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> next(p.size() + 1);
    for (size_t k = 1; k < p.size(); ++k) {
      const double slope = static_cast<double>(k) * p[k];
      next[k - 1] -= slope, next[k + 1] -= slope;
    }
    p = std::move(next);
  }
  return {p.rbegin(), p.rend()};
}
}  // namespace detail

/// Derivative n >= 1 of digamma, (-1)^(n+1) n! zeta(n + 1, x); below 0 by reflection (M. Abramowitz and I. Stegun,
/// 6.4.7). Of registers of floats and of doubles.
class Polygamma {
 public:
  explicit Polygamma(int64_t n)
      : order_(n),
        sign_(n % 2 != 0 ? 1 : -1),
        scale_(sign_ * std::tgamma(static_cast<double>(n) + 1)),
        cotangent_(detail::cotangent_derivative(n < 171 ? n : 171)),  // 171! is infinite
        power_(std::pow(std::numbers::pi, n + 1)) {}
  Doubles operator()(Doubles x) const { return of_doubles<12>(x); }
  template <class V> V operator()(V x) const {
    return detail::in_doubles([this](auto v) { return this->template of_doubles<4>(v); }, x);
  }

 private:
  template <int terms, class V> WEFT_SIMD V of_doubles(V x) const {
    const V value = detail::hurwitz_zeta<terms>(order_, select(x < 0.0, 1.0 - x, x)) * scale_;
    const auto [rest, sine, cosine] = detail::turn_of<true>(x);  // its error grows with the order
    const V cotangent = cosine / sine, pole = splat<V>(sign_ * std::numeric_limits<double>::infinity());
    V slope = splat<V>(cotangent_[0]);
    for (size_t i = 1; i < cotangent_.size(); ++i) slope = slope * cotangent + cotangent_[i];
    const V below = slope * -power_ - value * sign_;
    return select(x < 0.0, select(rest == 0.0, pole, below), select(x == 0.0, pole, value));
  }

  int64_t order_;
  double sign_, scale_;  // scale_: with n!
  std::vector<double> cotangent_;
  double power_;  // pi^(n + 1)
};

namespace detail {
/// z^k / (k! (k + order)!), highest first.
template <int order> constexpr auto bessel_series() {
  std::array<double, 17> c{};
  double term = 1;
  for (int k = 0; k < 17; ++k) {
    c[static_cast<size_t>(16 - k)] = term;
    term /= (k + 1.0) * (k + 1 + order);
  }
  return c;
}

/// The modified Bessel function of the first kind, times e^-|x| if it is scaled: the series of positive terms up to 8
/// (M. Abramowitz and I. Stegun, 9.6.10), e^x / sqrt(x) times a fit in 8 / x from there.
template <int order, bool scaled> struct BesselOf {
  template <class V> WEFT_SIMD static V of_doubles(V x) {
    static_assert(order == 0 || order == 1);
    constexpr double kFits[][6] = {{1.1354167549597635e-05, -2.1611535163288814e-06, 6.4913671456373013e-05,
                                    0.00043630319681767725, 0.0062336502452174977, 0.39894227791184933},
                                   {-1.3188936747915912e-05, 8.1856611881511855e-07, -8.8786470880810337e-05,
                                    -0.00072823512395099664, -0.018700619747969858, 0.39894228321738701}};
    constexpr auto kSeries = bessel_series<order>();
    const V size = absolute(x), t = simd::smaller(splat<V>(8.0), size), z = t * t * 0.25;
    V series = splat<V>(kSeries[0]);
    for (size_t k = 1; k < kSeries.size(); ++k) series = series * z + kSeries[k];
    if constexpr (order == 1) series = series * (t * 0.5);
    const V u = 8.0 / simd::larger(splat<V>(8.0), size);
    const V tail = square_root(u * 0.125) * polynomial(u, kFits[order]);
    // Far beyond the largest float, and within what 2^x takes.
    const V power = exp_to_float(scaled ? -t : simd::smaller(splat<V>(690.0), size));
    const V value = scaled ? select(size > 8.0, tail, series * power) : select(size > 8.0, tail * power, series);
    const auto infinite = size == std::numeric_limits<double>::infinity();
    const V whole = select(x == x, select(infinite, scaled ? V{} : size, value), x);
    return order == 1 ? select(x < 0.0, -whole, select(x == 0.0, x, whole)) : whole;
  }
};
}  // namespace detail

template <class V> WEFT_SIMD V lgamma(V x) {
  return detail::in_doubles([](auto v) { return detail::lgamma_of_doubles(v); }, x);
}
template <class V> WEFT_SIMD V digamma(V x) {
  return detail::in_doubles([](auto v) { return detail::digamma_of_doubles(v); }, x);
}
template <int order, bool scaled, class V> WEFT_SIMD V bessel_i(V x) {
  return detail::in_doubles([](auto v) { return detail::BesselOf<order, scaled>::of_doubles(v); }, x);
}

}  // namespace weft::kernels::cpu::vmath
