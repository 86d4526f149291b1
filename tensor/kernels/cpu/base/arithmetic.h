// Arithmetic on one pair of values as kernels mean it: integers wrap instead of overflowing, NaN propagates.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace weft::kernels::cpu {

namespace detail {
template <class T> struct Wrapping { using type = T; };
template <class T>
  requires(std::is_integral_v<T> && sizeof(T) >= sizeof(int))
struct Wrapping<T> {
  using type = std::make_unsigned_t<T>;
};
}  // namespace detail

/// The type in which sums and products of T wrap; narrow integers are safe in the int they promote to.
template <class T> using Wrapping = typename detail::Wrapping<T>::type;

template <class T> inline T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <class T> inline T wrapping_sub(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <class T> inline T wrapping_mul(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

/// How many parts of `size` cover `count`: count / size rounded up, for a count of at least 0.
constexpr int64_t ceil_div(int64_t count, int64_t size) { return (count + size - 1) / size; }
/// The least multiple of `size` that is not below `count`.
constexpr int64_t round_up(int64_t count, int64_t size) { return ceil_div(count, size) * size; }

/// The larger or smaller value; NaN where either is NaN.
template <class T> inline T nan_max(T a, T b) {
  const T larger = a > b ? a : b;  // one instruction, where one condition for both cases would be a jump
  return a != a ? a : larger;
}
template <class T> inline T nan_min(T a, T b) {
  const T smaller = a < b ? a : b;
  return a != a ? a : smaller;
}

/// min(max(x, low), high); a NaN stays.
template <class T> inline T clamped(T x, T low, T high) {
  const T above = x < low ? low : x;
  return above > high ? high : above;
}

/// log |Gamma(x)|. (std::lgamma writes a global sign, which threads would fight over.)
inline double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// a to the power b. Integers wrap; a negative integer exponent gives the truncated quotient: 1, -1 or 0 (0 of 0 too).
template <class T, class E> inline T power(T a, E b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a, b);
  } else {
    if (b < 0) return a == T(1) ? T(1) : a == T(-1) ? (b % 2 != 0 ? T(-1) : T(1)) : T(0);
    T result = 1;
    for (; b != 0; b = static_cast<E>(b >> 1)) {
      if ((b & 1) != 0) result = wrapping_mul(result, a);
      a = wrapping_mul(a, a);
    }
    return result;
  }
}

}  // namespace weft::kernels::cpu
