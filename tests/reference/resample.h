// Weights of interpolation.
#pragma once

#include <cmath>

namespace weft::testing::reference {

/// Keys' kernel of cubic convolution with a = -0.75: the weight of a pixel at the distance `t`.
inline double keys(double t) {
  t = std::abs(t);
  if (t <= 1) return 1.25 * t * t * t - 2.25 * t * t + 1;
  return t < 2 ? -0.75 * (t * t * t - 5 * t * t + 8 * t - 4) : 0;
}

}  // namespace weft::testing::reference
