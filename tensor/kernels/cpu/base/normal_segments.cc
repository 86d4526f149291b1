#include "tensor/kernels/cpu/base/normal_segments.h"

#include <cmath>
#include <numbers>

namespace weft::kernels::cpu {
namespace {

constexpr int kNodes = NormalSegments::kDegree + 1;

/// The coefficients in u of the polynomial through f(middle + half u) at the zeros of a Chebyshev polynomial, which is
/// all but the best one (Newton's divided differences, expanded).
template <class F> void interpolate(const F& f, double middle, double half, double* coefficient) {
  double node[kNodes], difference[kNodes];
  for (int i = 0; i < kNodes; ++i) {
    node[i] = std::cos(std::numbers::pi * (2 * i + 1) / (2 * kNodes));
    difference[i] = f(middle + half * node[i]);
  }
  for (int order = 1; order < kNodes; ++order)
    for (int i = kNodes - 1; i >= order; --i)
      difference[i] = (difference[i] - difference[i - 1]) / (node[i] - node[i - order]);
  for (int k = 0; k < kNodes; ++k) coefficient[k] = 0;
  for (int i = kNodes - 1; i >= 0; --i) {  // times (u - node) plus the next difference
    for (int k = kNodes - 1; k >= 0; --k) coefficient[k] = (k > 0 ? coefficient[k - 1] : 0) - node[i] * coefficient[k];
    coefficient[0] += difference[i];
  }
}

template <class F> NormalSegments segments(const F& f) {
  NormalSegments table{};
  const double half = 0.5 * static_cast<double>(NormalSegments::kWidth);
  for (int n = 0; n + 1 < NormalSegments::kCount; ++n) {
    double coefficient[kNodes];
    interpolate(f, -2 * half * n, half, coefficient);
    for (int k = 0; k < kNodes; ++k) table.coefficient[k][n] = static_cast<float>(coefficient[k] / std::pow(half, k));
  }
  return table;
}

double below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double density(double x) { return std::exp(-0.5 * x * x) * 0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2; }

}  // namespace

const NormalSegments& normal_below() {
  static const NormalSegments table = segments(below);
  return table;
}

const NormalSegments& gelu_slope() {
  static const NormalSegments table = segments([](double x) { return below(x) + x * density(x); });
  return table;
}

}  // namespace weft::kernels::cpu
