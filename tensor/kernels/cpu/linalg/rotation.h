// Plane rotations that make an element zero.
#pragma once

#include <cmath>

namespace weft::kernels::cpu::linalg {

struct Rotation {
  double c, s, length;
};
/// c f + s g = length, c g - s f = 0; f and g at most near to 1.
inline Rotation rotation(double f, double g) {
  const double sum = f * f + g * g, length = std::sqrt(sum);
  constexpr double kFewDigits = 1e-290;  // below it the squares are no longer precise
  if (sum > kFewDigits) return {f / length, g / length, length};
  if (f == 0 && g == 0) return {1, 0, 0};
  const Rotation larger = rotation(f * 0x1p600, g * 0x1p600);
  return {larger.c, larger.s, larger.length * 0x1p-600};
}

}  // namespace weft::kernels::cpu::linalg
