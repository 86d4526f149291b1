// The one-dimensional transforms of Winograd's minimal filtering F(4, 3): four results of a filter of three taps from
// six inputs with six products instead of twelve, y = A^T [(G g) * (B^T d)] with the points 0, +-a, +-b and infinity
// (Lavin and Gray, arXiv 1509.09308, section 4.3, have 1 and 2 for a and b; Winograd, Arithmetic Complexity of
// Computations, 1980, any). V is a vector of the compiler or a number.
#pragma once

#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu::winograd {

inline constexpr int kTile = 4, kWindow = 6, kPlanes = kWindow * kWindow;

// The points. 5/8 and 3/2 give half the error of Lavin and Gray's 1 and 2, and like these are exact in binary, as are
// their products here.
inline constexpr float kA = 0.625f, kB = 1.5f, kA2 = kA * kA, kB2 = kB * kB, kA3 = kA2 * kA, kB3 = kB2 * kB;
inline constexpr float kProduct = kA2 * kB2, kSum = kA2 + kB2;
// What the rows of G are divided by.
inline constexpr float kScale0 = 1 / kProduct, kScaleA = 1 / (2 * kA2 * (kA2 - kB2)),
                       kScaleB = 1 / (2 * kB2 * (kB2 - kA2));

/// B^T d.
template <class V> WEFT_SIMD void input(V d0, V d1, V d2, V d3, V d4, V d5, V* out) {
  const V a = d4 - kB2 * d2, b = kA * (d3 - kB2 * d1), c = d4 - kA2 * d2, d = kB * (d3 - kA2 * d1);
  out[0] = kProduct * d0 + (d4 - kSum * d2);
  out[1] = a + b;
  out[2] = a - b;
  out[3] = c + d;
  out[4] = c - d;
  out[5] = kProduct * d1 + (d5 - kSum * d3);
}

/// A^T m.
template <class V> WEFT_SIMD void output(V m0, V m1, V m2, V m3, V m4, V m5, V* out) {
  const V a = m1 + m2, b = m1 - m2, c = m3 + m4, d = m3 - m4;
  out[0] = m0 + a + c;
  out[1] = kA * b + kB * d;
  out[2] = kA2 * a + kB2 * c;
  out[3] = kA3 * b + (kB3 * d + m5);
}

/// A y, the transpose of `output`.
template <class V> WEFT_SIMD void gradient(V y0, V y1, V y2, V y3, V* out) {
  const V a = y0 + kA2 * y2, b = kA * y1 + kA3 * y3, c = y0 + kB2 * y2, d = kB * y1 + kB3 * y3;
  out[0] = y0;
  out[1] = a + b;
  out[2] = a - b;
  out[3] = c + d;
  out[4] = c - d;
  out[5] = y3;
}

/// G g.
template <class V> WEFT_SIMD void weight(V g0, V g1, V g2, V* out) {
  const V a = g0 + kA2 * g2, b = kA * g1, c = g0 + kB2 * g2, d = kB * g1;
  out[0] = kScale0 * g0;
  out[1] = kScaleA * (a + b);
  out[2] = kScaleA * (a - b);
  out[3] = kScaleB * (c + d);
  out[4] = kScaleB * (c - d);
  out[5] = g2;
}

/// G^T u, the transpose of `weight`.
template <class V> WEFT_SIMD void weight_gradient(V u0, V u1, V u2, V u3, V u4, V u5, V* out) {
  const V a = kScaleA * (u1 + u2), b = kScaleA * (u1 - u2), c = kScaleB * (u3 + u4), d = kScaleB * (u3 - u4);
  out[0] = kScale0 * u0 + a + c;
  out[1] = kA * b + kB * d;
  out[2] = kA2 * a + kB2 * c + u5;
}

}  // namespace weft::kernels::cpu::winograd
