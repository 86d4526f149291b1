// Naive derivatives of log(gamma(x)).
#pragma once

#include <cmath>
#include <numbers>

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

}  // namespace weft::testing::reference
