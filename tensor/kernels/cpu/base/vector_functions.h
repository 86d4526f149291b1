// More elementary functions of float lanes, made of those of vector_math.h and under the same rules: V is a float or a
// register of them, no branches, NaN and infinities as IEEE 754 specifies, within 2 ulp (tan and atan 2.5). Polynomials
// of tan, atan and sinh: Cephes (S. Moshier).
#pragma once

#include <numbers>

#include "tensor/kernels/cpu/base/vector_math.h"

namespace weft::kernels::cpu::vmath {

/// 2^x, exact for integers.
template <class V> WEFT_SIMD V exp2(V x) {
  constexpr float kRounder = detail::FloatFormat<float>::kRounder;
  x = simd::smaller(splat<V>(129.0f), simd::larger(splat<V>(-151.0f), x));
  const V shifted = x + kRounder;
  return times_power(detail::near_expm1((x - (shifted - kRounder)) * 6.93147181e-1f) + 1.0f, shifted);
}

/// e^x - 1 = (2^n - 1) + 2^n (e^r - 1); beyond 40 the 1 does not count, and 2^n alone may overflow.
template <class V> WEFT_SIMD V expm1(V x) {
  const auto [rest, shifted] = detail::exponential(simd::smaller(splat<V>(89.0f), simd::larger(splat<V>(-104.0f), x)));
  const V power = times_power(splat<V>(1.0f), shifted);
  const V near = power * rest + (power - 1.0f);
  return select(x > 40.0f, times_power(rest + 1.0f, shifted), select(x == V{}, x, near));
}

template <class V> WEFT_SIMD V log2(V x) {
  const auto [f, exponent] = detail::split(x);
  return exponent + (f * 1.44269504f + detail::log_tail(f) * 1.44269504f);
}

template <class V> WEFT_SIMD V log10(V x) {
  const auto [f, exponent] = detail::split(x);
  return exponent * 3.01029996e-1f + (f * 4.34294482e-1f + detail::log_tail(f) * 4.34294482e-1f);
}

namespace detail {
/// e^t / 2 for t >= 0, which overflows later than e^t.
template <class V> WEFT_SIMD V half_exp(V t) {
  const auto [rest, shifted] = exponential(simd::smaller(splat<V>(90.0f), t));
  return times_power(rest + 1.0f, shifted - 1.0f);
}
}  // namespace detail

template <class V> WEFT_SIMD V cosh(V x) {
  const V half = detail::half_exp(absolute(x));
  return half + 0.25f / half;
}

template <class V> WEFT_SIMD V sinh(V x) {
  const V t = absolute(x), z = x * x;
  const V half = detail::half_exp(t);
  V p = z * 2.03721912945e-4f + 8.33028376239e-3f;
  p = p * z + 1.66667160211e-1f;
  return select(t < 1.0f, p * (z * x) + x, with_sign_of(half - 0.25f / half, x));
}

template <class V> WEFT_SIMD V atan(V x) {
  const V t = absolute(x), one = splat<V>(1.0f);
  const auto large = t > 2.414213562373095f;     // tan(3 pi / 8): the angle is pi / 2 - atan(1 / t)
  const auto middle = t > 0.41421356237309503f;  // tan(pi / 8): it is pi / 4 + atan((t - 1) / (t + 1))
  const V r = select(large, -one, select(middle, t - 1.0f, t)) / select(large, t, select(middle, t + 1.0f, one));
  const V z = r * r;
  V p = z * 8.05374449538e-2f - 1.38776856032e-1f;
  p = p * z + 1.99777106478e-1f;
  p = p * z - 3.33329491539e-1f;
  const V angle = select(large, splat<V>(1.57079637f), select(middle, splat<V>(7.85398185e-1f), V{}));
  const V low = select(large, splat<V>(-4.37113883e-8f), select(middle, splat<V>(-2.18556941e-8f), V{}));
  return with_sign_of(angle + (p * (z * r) + (r + low)), x);
}

/// tan(x); |x| <= kTrigonometricLimit.
WEFT_SIMD float tan_quarter(float x) {
  using detail::madd;
  const auto [r, n] = detail::quarter_of(x);
  const float z = r * r;
  float p = madd(9.38540185543e-3f, z, 3.11992232697e-3f);
  p = madd(p, z, 2.44301354525e-2f);
  p = madd(p, z, 5.34112807005e-2f);
  p = madd(p, z, 1.33387994085e-1f);
  p = madd(p, z, 3.33331568548e-1f);
  p = madd(p * z, r, r);
  return select((n & 1u) != 0, -1.0f / p, p);
}

namespace detail {
/// log2(x) of doubles, x > 0 and finite, within 2e-12 of its value; beyond that range something finite.
template <class V> WEFT_SIMD V log2_of_doubles(V x) {
  constexpr double kRounder = FloatFormat<double>::kRounder;
  constexpr uint64_t kOne = std::bit_cast<uint64_t>(1.0), kRootOfHalf = std::bit_cast<uint64_t>(0.70710678118654757);
  const Bits<V> bits = std::bit_cast<Bits<V>>(x), biased = (bits + (kOne - kRootOfHalf)) >> 52;
  const V m = std::bit_cast<V>(bits - (biased << 52) + kOne);  // in [sqrt(1/2), sqrt(2))
  const V exponent = std::bit_cast<V>(biased + std::bit_cast<uint64_t>(kRounder)) - (kRounder + 1023.0);
  const V f = (m - 1.0) / (m + 1.0), z = f * f;
  constexpr double kTwice = 2.8853900817779268;  // 2 / ln(2): log2(m) is that times f + f^3 / 3 + f^5 / 5 + ...
  V p = z * (kTwice / 13) + kTwice / 11;
  p = p * z + kTwice / 9;
  p = p * z + kTwice / 7;
  p = p * z + kTwice / 5;
  p = p * z + kTwice / 3;
  p = p * z + kTwice;
  return p * f + exponent;
}

/// 2^x of doubles to a float's precision; -1000 <= x <= 1000, or NaN.
template <class V> WEFT_SIMD V exp2_of_doubles(V x) {
  constexpr double kRounder = FloatFormat<double>::kRounder;
  const V shifted = x + kRounder, r = (x - (shifted - kRounder)) * 0.69314718055994531;  // |r| <= ln(2) / 2
  V p = r * (1.0 / 40320.0) + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  return times_power((p * (r * r) + r) + 1.0, shifted);
}

/// |x|^y by way of doubles, right for finite x that are not 0.
template <class V> WEFT_SIMD V pow_of_sizes(V x, V y) {
  const V power = y * log2_of_doubles(absolute(x));
  return exp2_of_doubles(simd::smaller(splat<V>(1000.0), simd::larger(splat<V>(-1000.0), power)));
}

/// f of registers of floats, computed in double, half a register at a time.
template <class F, class V, class... More> WEFT_SIMD V in_doubles(F f, V x, More... more) {
  constexpr int N = sizeof(V) / sizeof(float), kHalf = N / 2;
  const auto half = [&]<int kFirst>(std::integral_constant<int, kFirst>) {
    const auto wide = [&](V v) { return simd::convert_lanes<double, kHalf>(simd::lanes<kFirst, kHalf>(v)); };
    return simd::convert_lanes<float, kHalf>(f(wide(x), wide(more)...));
  };
  return simd::join<float, kHalf>(half(std::integral_constant<int, 0>{}), half(std::integral_constant<int, kHalf>{}));
}
}  // namespace detail

/// x^y of registers of floats, by way of doubles: within 1 ulp, and what std::pow gives of zeros, infinities, NaN and
/// negative x.
template <class V> WEFT_SIMD V pow(V x, V y) {
  constexpr int N = sizeof(V) / sizeof(float);
  V power = detail::in_doubles([](auto base, auto exponent) { return detail::pow_of_sizes(base, exponent); }, x, y);
  constexpr float kInf = std::numeric_limits<float>::infinity(), kMost = 1 << 30;  // floats of 2^24 and more are even
  const V size = absolute(x), one = splat<V>(1.0f),
          near = simd::smaller(simd::larger(y, splat<V>(-kMost)), splat<V>(kMost));
  const auto integer = simd::convert_lanes<int32_t, N>(near);
  const auto whole = as_floats<V>(integer) == near, zero = size == 0.0f;
  power = select(zero | (size == kInf), select(zero ^ (y < 0.0f), V{}, splat<V>(kInf)), power);
  power = select((x < 0.0f) & (size < kInf) & ~whole, splat<V>(std::numeric_limits<float>::quiet_NaN()), power);
  power = select((x != x) | (y != y), x + y, power);
  power = select((x == 1.0f) | (y == 0.0f) | ((size == 1.0f) & (absolute(y) == kInf)), one, power);
  const auto negative = (std::bit_cast<Bits<V>>(x) >> 31) != 0;
  return select(negative & whole & ((integer & 1) != 0), -power, power);
}

namespace detail {
/// atan2 of floats in double, where nothing overflows or vanishes, without the sign of y: the angle of the smaller size
/// by the larger, at most pi / 4, mirrored to where it lies.
template <class V> WEFT_SIMD V angle_of_doubles(V y, V x) {
  constexpr double kPi = std::numbers::pi, kEighth = 0.41421356237309503;  // tan(pi / 8)
  const V longest = splat<V>(1e300);                                       // infinities are as long as each other
  const V up = simd::smaller(absolute(y), longest), right = simd::smaller(absolute(x), longest);
  const V most = simd::larger(up, right) + 1e-300, least = simd::smaller(up, right);
  const auto far = least > most * kEighth;  // beyond pi / 8: pi / 4 less the angle between
  const V r = select(far, least - most, least) / select(far, least + most, most), z = r * r;
  V p = z * (1.0 / 19);  // Gregory's series
  p = z * (1.0 / 17 - p);
  p = z * (1.0 / 15 - p);
  p = z * (1.0 / 13 - p);
  p = z * (1.0 / 11 - p);
  p = z * (1.0 / 9 - p);
  p = z * (1.0 / 7 - p);
  p = z * (1.0 / 5 - p);
  p = z * (1.0 / 3 - p);
  const V near = select(far, splat<V>(kPi / 4), V{}) + (r - r * p), quarter = select(up > right, kPi / 2 - near, near);
  return select(std::bit_cast<typename LanesOf<V>::SignedBits>(x) < 0, kPi - quarter, quarter);
}
}  // namespace detail

/// The angle of (x, y) of registers of floats, within 1 ulp; what std::atan2 gives of zeros, infinities and NaN.
template <class V> WEFT_SIMD V atan2(V y, V x) {
  const V angle = detail::in_doubles([](auto up, auto right) { return detail::angle_of_doubles(up, right); }, y, x);
  return select((x != x) | (y != y), x + y, with_sign_of(angle, y));
}

/// Whether a comparison is true in any lane.
template <class M> WEFT_SIMD bool any_lane(M condition) {
#if defined(__AVX512F__)
  if constexpr (sizeof(M) == 64) return _mm512_test_epi64_mask((__m512i)condition, (__m512i)condition) != 0;
#endif
#if defined(__AVX__)
  if constexpr (sizeof(M) == 32) return _mm256_testz_si256((__m256i)condition, (__m256i)condition) == 0;
#endif
  int64_t bits = 0;
  for (int i = 0; i < static_cast<int>(sizeof(M) / sizeof(condition[0])); ++i) bits |= condition[i];
  return bits != 0;
}

// Inverse functions of registers of floats, computed in double: within 1 ulp. Polynomials are Chebyshev fits with
// a relative error below 2e-8; erfinv goes by w = -log(1 - y^2) as M. Giles's ("Approximating the erfinv
// function", 2011).
namespace detail {
template <class V, size_t n> WEFT_SIMD V polynomial(V x, const double (&highest_first)[n]) {
  V p = splat<V>(highest_first[0]);
  for (size_t i = 1; i < n; ++i) p = p * x + highest_first[i];
  return p;
}

/// The same as two sums, of even and odd powers, that do not wait for each other: for polynomials of many terms.
template <class V, size_t n> WEFT_SIMD V long_polynomial(V x, const double (&highest_first)[n]) {
  const V z = x * x;
  V p = splat<V>(highest_first[0]), q = splat<V>(highest_first[1]);
  for (size_t i = 2; i + 1 < n; i += 2) p = p * z + highest_first[i], q = q * z + highest_first[i + 1];
  if constexpr (n % 2 == 0) return p * x + q;
  return (p * z + highest_first[n - 1]) + q * x;
}

template <class V> WEFT_SIMD V atanh_of_sizes(V t) {
  const V z = t * t, small = t + t * z * (z * (z * (1.0 / 7) + 1.0 / 5) + 1.0 / 3);
  const V large = log2_of_doubles((1.0 + t) / (1.0 - t)) * 0.34657359027997264;  // half of ln(2)
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const V beyond = select(t == 1.0, splat<V>(kInf), splat<V>(kNan));
  return select(t < 0.03, small, select(t < 1.0, large, beyond));
}

template <class V> WEFT_SIMD V erfinv_of_doubles(V y) {
  const V t = absolute(y), rest = (1.0 - t) * (1.0 + t);
  const V w = log2_of_doubles(rest) * -0.69314718055994531;
  constexpr double kNear[] = {1.336834147751047e-10,  4.3634437038033185e-10, -1.1037705251009287e-08,
                              1.6467958354452397e-08, 4.797919427512086e-07,  -3.4260708141249813e-06,
                              -4.999023213129257e-06, 0.00021826368835833947, -0.0012527045694936828,
                              -0.004177324738401731,  0.24664027568367777,    1.5014093517052802};
  constexpr double kFar[] = {0.00010172641571452999, -0.00029592495999571116, -3.602084932795722e-05,
                             0.0014676614525152734,  -0.0036087478627149635,  0.00569380756408878,
                             -0.007634724973487381,  0.009444471271316934,    1.0016747965635353,
                             2.8329768147126226};
  V value = polynomial(w - 2.5, kNear);
  if (any_lane(w >= 5.0)) value = select(w < 5.0, value, polynomial(square_root(w) - 3.0, kFar));
  value *= y;
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const V beyond = select(t == 1.0, y * kInf, splat<V>(kNan));
  return select(t < 1.0, value, beyond);
}
}  // namespace detail

template <class V> WEFT_SIMD V asinh(V x) {
  return detail::in_doubles([](auto v) { return asinh(v); }, x);
}
template <class V> WEFT_SIMD V acosh(V x) {
  return detail::in_doubles([](auto v) { return acosh(v); }, x);
}
template <class V> WEFT_SIMD V atanh(V x) {
  return with_sign_of(detail::in_doubles([](auto t) { return detail::atanh_of_sizes(t); }, absolute(x)), x);
}
template <class V> WEFT_SIMD V erfinv(V y) {
  return detail::in_doubles([](auto v) { return detail::erfinv_of_doubles(v); }, y);
}

}  // namespace weft::kernels::cpu::vmath
