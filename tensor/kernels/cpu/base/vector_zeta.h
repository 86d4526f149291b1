// Hurwitz's zeta function of registers of doubles; of floats it is computed in double as well.
#pragma once

#include <limits>

#include "tensor/kernels/cpu/base/vector_special.h"

namespace weft::kernels::cpu::vmath {

namespace detail {
/// The sum of (q + k)^-x over k >= 0, x > 1 and q > 0: ten terms, then Euler and Maclaurin's corrections, which are
/// needed only where x is not large (F. Johansson, "Rigorous high-precision computation of the Hurwitz zeta function",
/// 2015).
template <class V> WEFT_SIMD V zeta_of_positive(V x, V q) {
  V sum = pow(q, -x);
  for (double k = 1; k < 10; ++k) {
    const V term = pow(q + k, -x);
    sum += term;
    if (!any_lane(term > sum * 0x1p-60)) return sum;
  }
  const V end = q + 10.0;
  // The integral from `end` is end^(1 - x) / (x - 1). 1 - x is exact only below x = 2: from there, end^-x is multiplied
  // by `end`, unless end^-x is below the range of the numbers.
  const auto direct = (x < 2.0) | (end > 1e100);
  const V power = pow(end, select(direct, 1.0 - x, -x));
  const V integral = select(direct, power, power * end), term = select(direct, power / end, power);
  sum += integral / (x - 1.0) + term * 0.5;
  const V s = simd::smaller(x, splat<V>(1e6)), inverse = 1.0 / end, square = inverse * inverse;
  V factor = term * inverse * s, corrections{};
  double k = 1;
  for (const double c : kEulerMaclaurin) {
    corrections += factor * c;
    factor *= square * ((s + k) * (s + k + 1.0));
    k += 2;
  }
  return sum + corrections;
}

template <class V> WEFT_SIMD V floor_of(V x) {
  constexpr double kRounder = FloatFormat<double>::kRounder;
  const V nearest = (x + kRounder) - kRounder, down = select(nearest > x, nearest - 1.0, nearest);
  return select(absolute(x) < 0x1p51, down, x);
}

/// The same of an integer x and a negative q that is no integer. With f = q - floor(q), the terms above 0 are those of
/// zeta(x, f). The terms below 0 have the bases q, q + 1, ..., f - 1, whose sizes 1 - f, 2 - f, ..., -q are those of
/// zeta(x, 1 - f) less those of zeta(x, 1 - q); the sign of each term is (-1)^x. Where x is odd and f close to 1/2, the
/// first two sums almost cancel: their difference is taken first.
template <class V> WEFT_SIMD V zeta_below(V x, V q) {
  const V down = floor_of(q), half = x * 0.5;
  const V above = zeta_of_positive(x, q - down), mirrored = zeta_of_positive(x, (down + 1.0) - q);  // 1 - f, exactly
  const V beyond = zeta_of_positive(x, 1.0 - q);
  return select(floor_of(half) == half, (above + mirrored) - beyond, (above - mirrored) + beyond);
}
}  // namespace detail

/// The sum of (q + k)^-x over k >= 0. NaN where x < 1, and where q < 0 and x is no integer; inf where x = 1, and where
/// q is 0, -1, ...
WEFT_SIMD Doubles zeta(Doubles x, Doubles q) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const auto inside = (x > 1.0) & (q > 0.0), below = (x > 1.0) & (q < 0.0);
  const Doubles two = splat<Doubles>(2.0);
  Doubles value = splat<Doubles>(kNan);
  if (any_lane(inside))
    value = select(inside, detail::zeta_of_positive(select(inside, x, two), select(inside, q, two)), value);
  if (any_lane(below)) {
    const auto defined = below & (detail::floor_of(x) == x);
    const Doubles under = detail::zeta_below(select(defined, x, two), select(defined, q, splat<Doubles>(-0.5)));
    value = select(defined, under, value);
  }
  const auto pole = (x == 1.0) & (q == q), origin = (x > 1.0) & (q <= 0.0) & (detail::floor_of(q) == q);
  return select(pole | origin, splat<Doubles>(kInf), value);
}

}  // namespace weft::kernels::cpu::vmath
