// Special functions that the C library does not have, or not for threads. All are computed in double, those of
// floats by registers.
#include "tensor/ops/special.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/vector_special.h"
#include "tensor/kernels/cpu/pointwise/unary_loops.h"

namespace weft::kernels::cpu {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// M. Giles, "Approximating the erfinv function", 2011, and steps of Newton.
double erfinv_of(double y) {
  if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? std::copysign(kInfinity, y) : kNan;
  double w = -std::log((1 - y) * (1 + y)), p = 0;
  if (w < 5) {
    w -= 2.5;
    for (double c : {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
                     -0.00417768164, 0.246640727, 1.50140941})
      p = p * w + c;
  } else {
    w = std::sqrt(w) - 3;
    for (double c : {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
                     0.00943887047, 1.00167406, 2.83297682})
      p = p * w + c;
  }
  double x = std::fabs(p * y);
  const double t = std::fabs(y);
  for (int step = 0; step < (t > 0.9999 ? 5 : 2); ++step) {
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-x * x), tail = std::erfc(x);
    // Near 1 the logarithms of the complements are compared, which have the digits and are almost straight.
    x += t > 0.5 ? std::log(tail / (1 - t)) * tail / slope : (t - std::erf(x)) / slope;
  }
  return std::copysign(x, y);
}

/// std::lgamma writes a global sign, which threads would fight over.
double lgamma_of(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// Asymptotic series after shifting x upwards, reflection below 0: M. Abramowitz and I. Stegun, 6.3.18, 6.3.5, 6.3.7.
double digamma_of(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0) {
    const double whole = std::trunc(x), part = x - whole;
    if (part == 0) return kNan;
    return digamma_of(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * part);
  }
  double sum = 0;
  while (x < 10) sum -= 1 / x, x += 1;
  if (x > 1e17) return std::log(x);
  const double z = 1 / (x * x);
  double p = 0;
  for (double c : {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12}) p = p * z + c;
  return sum + std::log(x) - 0.5 / x - p * z;
}

/// e^-|x| times the modified Bessel function of the first kind: a series of positive terms, for large x the asymptotic
/// one. M. Abramowitz and I. Stegun, 9.6.10 and 9.7.1.
template <int order> double scaled_bessel_i(double x) {
  static_assert(order == 0 || order == 1);
  const double size = std::fabs(x), sign = order == 1 && x < 0 ? -1 : 1;
  double term = 1, sum = 1;
  if (size <= 30) {
    for (double k = 1; term > 1e-17 * sum; ++k) sum += term *= size * size / (4 * k * (k + order));
    return (order == 0 ? 1 : x / 2) * sum * std::exp(-size);
  }
  for (double k = 1; std::fabs(term) > 1e-17; ++k) {
    const double odd = 2 * k - 1;
    sum += term *= (odd * odd - 4 * order) / (8 * size * k);
  }
  return sign * sum / std::sqrt(2 * std::numbers::pi * size);
}

/// e^x in two halves, because it overflows before the product.
template <int order> double bessel_i(double x) {
  if (std::isinf(x)) return order == 1 ? x : std::fabs(x);
  const double half = std::exp(std::fabs(x) / 2);
  return half * scaled_bessel_i<order>(x) * half;
}

/// The sum of (x + k)^-s over k >= 0 for x > 0 by Euler and Maclaurin: terms up to x + k = 16, then the integral, half
/// a term, and corrections by Bernoulli numbers.
double hurwitz_zeta(double s, double x) {
  double sum = 0;
  while (x < 16) sum += std::pow(x, -s), x += 1;
  const double term = std::pow(x, -s);
  double out = sum + std::pow(x, 1 - s) / (s - 1) + 0.5 * term, factor = s * term / x;
  double k = 1;
  for (double c : {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0}) {
    out += c * factor;
    factor *= (s + k) * (s + k + 1) / (x * x);
    k += 2;
  }
  return out;
}

/// (-1)^(n+1) n! zeta(n + 1, x). Below 0 by reflection for n = 1 and 2, NaN for others.
double polygamma_of(int64_t n, double x) {
  constexpr double pi = std::numbers::pi;
  if (std::isnan(x)) return x;
  if (x <= 0 && x == std::floor(x)) return n % 2 != 0 ? kInfinity : kNan;
  if (x < 0) {
    const double part = x - std::trunc(x), s = std::sin(pi * part), c = std::cos(pi * part);
    if (n == 1) return pi * pi / (s * s) - polygamma_of(1, 1 - x);
    return n == 2 ? polygamma_of(2, 1 - x) - 2 * pi * pi * pi * c / (s * s * s) : kNan;
  }
  const double order = static_cast<double>(n);
  return (n % 2 != 0 ? 1 : -1) * std::tgamma(order + 1) * hurwitz_zeta(order + 1, x);
}

/// of_double where doubles come one by one, of_register for floats.
template <class F, class G> struct SpecialOf {
  F of_double;
  G of_register;
  template <class V> V operator()(V x) const {
    if constexpr (std::is_arithmetic_v<V>)
      return static_cast<V>(of_double(static_cast<double>(x)));
    else
      return of_register(x);
  }
};
template <class F, class G>
void special(const F& of_double, const G& of_register, const Operand& x, const Operand& out) {
  floating(kMathGrain, on_registers(SpecialOf<F, G>{of_double, of_register}), x, out);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

#define WEFT_SPECIAL_KERNEL(Op, of_double, of_register) \
  WEFT_UNARY_KERNEL(Op, special([](double v) { return of_double(v); }, [](auto v) { return of_register(v); }, x, out))

WEFT_SPECIAL_KERNEL(Erfinv, erfinv_of, vmath::erfinv)
WEFT_SPECIAL_KERNEL(Lgamma, lgamma_of, vmath::lgamma)
WEFT_SPECIAL_KERNEL(Digamma, digamma_of, vmath::digamma)
WEFT_SPECIAL_KERNEL(I0, bessel_i<0>, (vmath::bessel_i<0, false>))
WEFT_SPECIAL_KERNEL(I1, bessel_i<1>, (vmath::bessel_i<1, false>))
WEFT_SPECIAL_KERNEL(I0e, scaled_bessel_i<0>, (vmath::bessel_i<0, true>))
WEFT_SPECIAL_KERNEL(I1e, scaled_bessel_i<1>, (vmath::bessel_i<1, true>))
WEFT_UNARY_KERNEL(Frac, floating(
                            kCheapGrain, [](auto v) { return v - trunc_of(v); }, x, out))

void op::Polygamma::cpu(const Operand& x, const Operand& out) const {
  special([n = order](double v) { return polygamma_of(n, v); }, [n = order](auto v) { return vmath::polygamma(n, v); },
          x, out);
}

}  // namespace weft
