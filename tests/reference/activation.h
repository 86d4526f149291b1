// Naive activations of one number.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::testing::reference {

inline double relu(double x) { return x < 0 ? 0 : x; }
inline double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
inline double softplus(double x) { return std::isnan(x) ? x : std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
inline double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }
inline double silu(double x) { return x * sigmoid(x); }
inline double gelu(double x) { return x * normal_cdf(x); }
inline double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

}  // namespace weft::testing::reference
