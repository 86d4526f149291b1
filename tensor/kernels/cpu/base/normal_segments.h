// The standard normal distribution, for gelu: by segments, without an exponential.
#pragma once

#include "tensor/kernels/cpu/base/vector_math.h"

namespace weft::kernels::cpu {

/// A function f on -x, x >= 0: segment n, |x| in [(n - 0.5) kWidth, (n + 0.5) kWidth), has a polynomial in the distance
/// to its middle, of which coefficient[k][n] is that of power k. The last segment is 0, as f to rounding is there and
/// beyond.
struct NormalSegments {
  static constexpr int kDegree = 5, kCount = 16;
  static constexpr float kWidth = 0.4f;
  alignas(64) float coefficient[kDegree + 1][kCount];

  /// f for every lane: f(x) = 1 - f(-x), as it is with both of the functions below. Within 1.2e-7 of the exact value,
  /// and within 1e-6 of itself for -3 <= x; NaN for NaN.
  template <class V> WEFT_SIMD V operator()(V x) const {
    constexpr float kRounder = vmath::detail::FloatFormat<float>::kRounder;
    const V a = simd::smaller(vmath::splat<V>(kWidth * (kCount - 1)), vmath::absolute(x));
    const V shifted = a * (1.0f / kWidth) + kRounder;
    const V r = (shifted - kRounder) * kWidth - a;
    const auto segment = std::bit_cast<vmath::Bits<V>>(shifted);
    V p = vmath::lookup<V>(coefficient[kDegree], segment);
    for (int k = kDegree - 1; k >= 0; --k) p = p * r + vmath::lookup<V>(coefficient[k], segment);
    return vmath::select(x > V{}, 1.0f - p, p);
  }
};

/// The probability P(x) of a value below x.
const NormalSegments& normal_below();
/// The derivative of x P(x).
const NormalSegments& gelu_slope();

}  // namespace weft::kernels::cpu
