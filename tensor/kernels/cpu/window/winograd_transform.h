// The one-dimensional transforms of Winograd's minimal filtering F(4, 3): four results of a filter of three taps from
// six inputs with six products instead of twelve, y = A^T [(G g) * (B^T d)] with the points 0, 1, -1, 2, -2 and
// infinity. Matrices as in Lavin and Gray, arXiv 1509.09308, section 4.3. V is a vector of the compiler or a number.
#pragma once

#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu::winograd {

inline constexpr int kTile = 4, kWindow = 6, kPlanes = kWindow * kWindow;

/// B^T d.
template <class V> WEFT_SIMD void input(V d0, V d1, V d2, V d3, V d4, V d5, V* out) {
  const V a = d4 - 4.0f * d2, b = d3 - 4.0f * d1, c = d4 - d2, d = 2.0f * (d3 - d1);
  out[0] = 4.0f * d0 + (d4 - 5.0f * d2);
  out[1] = a + b;
  out[2] = a - b;
  out[3] = c + d;
  out[4] = c - d;
  out[5] = 4.0f * d1 + (d5 - 5.0f * d3);
}

/// A^T m.
template <class V> WEFT_SIMD void output(V m0, V m1, V m2, V m3, V m4, V m5, V* out) {
  const V a = m1 + m2, b = m1 - m2, c = m3 + m4, d = m3 - m4;
  out[0] = m0 + a + c;
  out[1] = b + 2.0f * d;
  out[2] = a + 4.0f * c;
  out[3] = b + 8.0f * d + m5;
}

/// A y, the transpose of `output`.
template <class V> WEFT_SIMD void gradient(V y0, V y1, V y2, V y3, V* out) {
  const V a = y0 + y2, b = y1 + y3, c = y0 + 4.0f * y2, d = 2.0f * y1 + 8.0f * y3;
  out[0] = y0;
  out[1] = a + b;
  out[2] = a - b;
  out[3] = c + d;
  out[4] = c - d;
  out[5] = y3;
}

// 1 / 6 and 1 / 24 are rounded, yet a multiple of 6 or 24 times them is exact.
inline constexpr float kSixth = 1.0f / 6, kTwentyFourth = 1.0f / 24;

/// G g.
template <class V> WEFT_SIMD void weight(V g0, V g1, V g2, V* out) {
  const V a = g0 + g2, b = g0 + 4.0f * g2, c = 2.0f * g1;
  out[0] = 0.25f * g0;
  out[1] = -kSixth * (a + g1);
  out[2] = -kSixth * (a - g1);
  out[3] = kTwentyFourth * (b + c);
  out[4] = kTwentyFourth * (b - c);
  out[5] = g2;
}

/// G^T u, the transpose of `weight`.
template <class V> WEFT_SIMD void weight_gradient(V u0, V u1, V u2, V u3, V u4, V u5, V* out) {
  const V a = kSixth * (u1 + u2), b = kSixth * (u2 - u1), c = kTwentyFourth * (u3 + u4), d = kTwentyFourth * (u3 - u4);
  out[0] = 0.25f * u0 - a + c;
  out[1] = b + 2.0f * d;
  out[2] = 4.0f * c - a + u5;
}

}  // namespace weft::kernels::cpu::winograd
