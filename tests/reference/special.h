// Naive special functions, in long double: derivatives of log(gamma(x)), and functions of two arguments.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace weft::testing::reference {

/// The n-th derivative of digamma at an x that is no pole: the sum of 1 / (x + k)^(n + 1), its end by Euler and
/// Maclaurin.
inline double polygamma(int n, double x) {
  if (n == 0 && x > 1e15) return std::log(x);
  const auto term_at = [n](long double at) {
    long double term = 1 / at;
    for (int i = 0; i < n; ++i) term /= at;
    return term;
  };
  long double sum = 0, y = x;
  while (y < 60 + 20 * n) sum += term_at(y), y += 1;
  const long double term = term_at(y);
  sum += (n == 0 ? -std::log(y) : term * y / n) + term / 2 + (n + 1) * term / y / 12;
  const long double third = (n + 1.0L) * (n + 2) * (n + 3) * term / (y * y * y);
  sum += third * (n + 4) * (n + 5) / (y * y) / 30240 - third / 720;
  return static_cast<double>((n % 2 != 0 ? 1 : -1) * std::tgamma(n + 1.0L) * sum);
}

/// Below 0 by reflection; at 0 the infinity of the other sign, at negative integers NaN.
inline double digamma(double x) {
  if (x == 0) return -1 / x;
  if (!(x < 0)) return polygamma(0, x);
  const double part = x - std::trunc(x);
  if (part == 0) return std::nan("");
  return polygamma(0, 1 - x) - std::numbers::pi / std::tan(std::numbers::pi * part);
}

/// The sum of (q + k)^-x over k >= 0, its end by Euler and Maclaurin.
inline long double zeta(double x, double q) {
  if (std::isnan(x) || std::isnan(q) || x < 1 || (x > 1 && q < 0 && q != std::floor(q) && x != std::floor(x)))
    return std::nan("");
  if (x == 1 || (q <= 0 && q == std::floor(q))) return std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return q > 1 ? 0 : q == 1 ? 1 : std::numeric_limits<double>::infinity();
  const long double s = x;
  long double sum = 0, y = q;
  for (int k = 0; k < 60 || y < 60 + 20 * std::fmin(s, 100); ++k) sum += std::pow(y, -s), y += 1;
  const long double term = std::pow(y, -s), first = s * term / y, third = first * (s + 1) * (s + 2) / (y * y);
  sum += std::pow(y, 1 - s) / (s - 1) + term / 2 + first / 12 - third / 720;
  return sum + third * (s + 3) * (s + 4) / (y * y) / 30240;
}

/// The regularized incomplete gamma functions P and Q of 0 < a, 0 < x: the series of P, and the continued fraction of Q
/// from its end where x is large.
inline std::pair<long double, long double> incomplete_gamma(double shape, double at) {
  if (shape > 1e8) {  // almost normal, and no series gets there
    const long double z = (static_cast<long double>(at) - shape) / std::sqrt(2.0L * shape);
    return {std::erfc(-z) / 2, std::erfc(z) / 2};
  }
  const long double a = shape, x = at, start = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1 || x < 3) {
    long double sum = 0, term = 1 / a;
    for (int n = 1; n < 2000; ++n) sum += term, term *= x / (a + n);
    return {start * sum, 1 - start * sum};
  }
  long double rest = 0;
  for (int n = 2000; n > 0; --n) rest = n * (n - a) / (x + 2 * n + 1 - a - rest);
  const long double upper = start / (x + 1 - a - rest);
  return {1 - upper, upper};
}
inline double igamma(double a, double x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x))) return std::nan("");
  if (a == 0 || std::isinf(x)) return 1;
  return x == 0 || std::isinf(a) ? 0 : static_cast<double>(incomplete_gamma(a, x).first);
}
inline double igammac(double a, double x) {
  const double lower = igamma(a, x);
  return lower == 0 || lower == 1 || std::isnan(lower) ? 1 - lower : static_cast<double>(incomplete_gamma(a, x).second);
}

/// The modified Bessel function of the second kind, of order n: the integral of e^(-x cosh(t)) cosh(n t) over t >= 0,
/// whose sums converge faster than any power of the step.
inline double bessel_k(int n, double x) {
  if (!(x > 0)) return x == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  if (std::isinf(x)) return 0;
  long double sum = std::exp(-static_cast<long double>(x)) / 2;
  for (int k = 1; k < 2000; ++k) {
    const long double t = k / 32.0L;
    sum += std::exp(-x * std::cosh(t)) * std::cosh(n * t);
  }
  return static_cast<double>(sum / 32);
}

/// The logarithm of the share of the normal distribution below x.
inline double log_ndtr(double x) {
  const long double tail = std::erfc(std::fabs(static_cast<long double>(x)) / std::numbers::sqrt2_v<long double>) / 2;
  if (x < -140) return -x * x / 2 - std::log(-x * std::sqrt(2 * std::numbers::pi)) - 1 / (x * x);
  return static_cast<double>(x < 0 ? std::log(tail) : std::log1p(-tail));
}

}  // namespace weft::testing::reference
