// The one-dimensional transforms of Winograd's minimal filtering F(4, 3): four results of a filter of three taps from
// six inputs with six products instead of twelve, y = A^T [(G g) * (B^T d)] with the points 0, +-a, +-b and infinity
// (Lavin and Gray, arXiv 1509.09308, section 4.3, have 1 and 2 for a and b; Winograd, Arithmetic Complexity of
// Computations, 1980, any). V is a vector of the compiler or a number.
#pragma once

#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu::winograd {

inline constexpr int kTile = 4, kWindow = 6, kTaps = 3;

/// Rows of B^T and A come in pairs that share sums; each pair is made by itself, so that what it needs stays in
/// registers.
inline constexpr int kPairs = 3, kPairRows[kPairs][2] = {{0, 5}, {1, 2}, {3, 4}};

// The points. 5/8 and 3/2 give half the error of Lavin and Gray's 1 and 2, and like these are exact in binary, as are
// their products here.
inline constexpr float kA = 0.625f, kB = 1.5f, kA2 = kA * kA, kB2 = kB * kB, kA3 = kA2 * kA, kB3 = kB2 * kB;
inline constexpr float kProduct = kA2 * kB2, kSum = kA2 + kB2;
// What the rows of G are divided by.
inline constexpr float kScale0 = 1 / kProduct, kScaleA = 1 / (2 * kA2 * (kA2 - kB2)),
                       kScaleB = 1 / (2 * kB2 * (kB2 - kA2));

/// Two rows of B^T d; d(i) is an input.
template <int kPair, class V, class Inputs> WEFT_SIMD void input(const Inputs& d, V* out) {
  if constexpr (kPair == 0) {
    out[0] = kProduct * d(0) + (d(4) - kSum * d(2));
    out[1] = kProduct * d(1) + (d(5) - kSum * d(3));
  } else {
    constexpr float kOther = kPair == 1 ? kB2 : kA2, kPoint = kPair == 1 ? kA : kB;
    const V a = d(4) - kOther * d(2), b = kPoint * (d(3) - kOther * d(1));
    out[0] = a + b;
    out[1] = a - b;
  }
}

/// A^T m.
template <class V> WEFT_SIMD void output(V m0, V m1, V m2, V m3, V m4, V m5, V* out) {
  const V a = m1 + m2, b = m1 - m2, c = m3 + m4, d = m3 - m4;
  out[0] = m0 + a + c;
  out[1] = kA * b + kB * d;
  out[2] = kA2 * a + kB2 * c;
  out[3] = kA3 * b + (kB3 * d + m5);
}

/// Two rows of A y, the transpose of `output`; y(i) is a result's gradient.
template <int kPair, class V, class Gradients> WEFT_SIMD void gradient(const Gradients& y, V* out) {
  if constexpr (kPair == 0) {
    out[0] = y(0);
    out[1] = y(3);
  } else {
    constexpr float k1 = kPair == 1 ? kA : kB, k2 = k1 * k1, k3 = k2 * k1;
    const V a = y(0) + k2 * y(2), b = k1 * y(1) + k3 * y(3);
    out[0] = a + b;
    out[1] = a - b;
  }
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

/// What two rows u0, u1 add to the three of G^T u, the transpose of `weight`.
template <int kPair, class V> WEFT_SIMD void weight_gradient(V u0, V u1, V* out) {
  if constexpr (kPair == 0) {
    out[0] = kScale0 * u0;
    out[1] = V{};
    out[2] = u1;
  } else {
    constexpr float kPoint = kPair == 1 ? kA : kB, kScale = kPair == 1 ? kScaleA : kScaleB;
    out[0] = kScale * (u0 + u1);
    out[1] = kPoint * (kScale * (u0 - u1));
    out[2] = kPoint * kPoint * out[0];
  }
}

}  // namespace weft::kernels::cpu::winograd
