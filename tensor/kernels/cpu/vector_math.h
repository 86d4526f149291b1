// Elementary functions of one value. The float ones are branch-free polynomials, so that loops over them vectorise on
// every compiler without -ffast-math; NaN and infinities come out as IEEE-754 wants. The double ones are the C library's.
//
// Each float function is within 2 ulp of the exact value over its whole range, subnormal results included
// (tests/tensor/kernels/vector_math_test.cc measures it). Polynomials: Cephes (S. Moshier) for exp, log, tanh, sin, cos;
// N. Juffa's minimax fits for erf.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weft::kernels::cpu::vmath {

#define WEFT_VMATH [[gnu::always_inline]] inline

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// a * b + c, in one rounding where the machine has it.
WEFT_VMATH float madd(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

/// `yes` or `no` without a branch: both are computed.
WEFT_VMATH float select(bool condition, float yes, float no) {
  const uint32_t mask = condition ? ~0u : 0u;
  return std::bit_cast<float>((std::bit_cast<uint32_t>(yes) & mask) | (std::bit_cast<uint32_t>(no) & ~mask));
}

/// 2^n for n in [-126, 127]; anything for others.
WEFT_VMATH float power_of_two(int32_t n) { return std::bit_cast<float>(static_cast<uint32_t>(n + 127) << 23); }

WEFT_VMATH float exp(float x) {
  constexpr float kRound = 12582912.0f;  // adding 1.5 * 2^23 rounds to an integer, which sits in the lower bits
  x = select(x > 89.0f, 89.0f, x);
  x = select(x < -104.0f, -104.0f, x);
  const float shifted = madd(x, 1.44269504088896341f, kRound);
  const float n = shifted - kRound;
  // NaN leaves garbage in the bits; what it scales is NaN. The mask keeps that garbage inside of int.
  const int32_t k = static_cast<int32_t>((std::bit_cast<uint32_t>(shifted) & 0x7fffffu)) - 0x400000;
  float r = madd(n, -0.693359375f, x);
  r = madd(n, 2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  p = madd(p, r, 1.3981999507e-3f);
  p = madd(p, r, 8.3334519073e-3f);
  p = madd(p, r, 4.1665795894e-2f);
  p = madd(p, r, 1.6666665459e-1f);
  p = madd(p, r, 5.0000001201e-1f);
  p = madd(p * r, r, r) + 1.0f;
  const int32_t half = k >> 1;  // in two steps: 2^128 and 2^-150 are no floats
  return p * power_of_two(half) * power_of_two(k - half);
}

WEFT_VMATH float log(float x) {
  const bool tiny = x < std::numeric_limits<float>::min();
  const float y = select(tiny, x * 33554432.0f, x);                // subnormal: times 2^25
  const uint32_t word = std::bit_cast<uint32_t>(y) - 0x3f3504f3u;  // mantissa to [sqrt(1/2), sqrt(2))
  const float e = static_cast<float>(static_cast<int32_t>(word) >> 23) - select(tiny, 25.0f, 0.0f);
  const float f = std::bit_cast<float>((word & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  float p = 7.0376836292e-2f;
  p = madd(p, f, -1.1514610310e-1f);
  p = madd(p, f, 1.1676998740e-1f);
  p = madd(p, f, -1.2420140846e-1f);
  p = madd(p, f, 1.4249322787e-1f);
  p = madd(p, f, -1.6668057665e-1f);
  p = madd(p, f, 2.0000714765e-1f);
  p = madd(p, f, -2.4999993993e-1f);
  p = madd(p, f, 3.3333331174e-1f);
  const float z = f * f;
  float r = madd(e, -2.12194440e-4f, p * f * z);
  r = madd(z, -0.5f, r);
  r = madd(e, 0.693359375f, f + r);
  r = select(x == kInf, x, r);
  r = select(x == 0.0f, -kInf, r);
  return select(x >= 0.0f, r, kNaN);  // NaN compares false
}

/// log(1 + x), exact for tiny x.
WEFT_VMATH float log1p(float x) {
  const float u = 1.0f + x;
  const float lost = select(u >= 2.0f, 1.0f - (u - x), x - (u - 1.0f));  // what rounding took from 1 + x
  const float r = log(u) + lost / u;
  return select((x == 0.0f) | (u == kInf) | (u == 0.0f), select(u == 0.0f, -kInf, x), r);
}

WEFT_VMATH float tanh(float x) {
  const float t = std::fabs(x), z = x * x;
  float p = -5.70498872745e-3f;
  p = madd(p, z, 2.06390887954e-2f);
  p = madd(p, z, -5.37397155531e-2f);
  p = madd(p, z, 1.33314422036e-1f);
  p = madd(p, z, -3.33332819422e-1f);
  const float small = madd(p * z, x, x);
  const float large = 1.0f - 2.0f / (exp(2.0f * t) + 1.0f);
  return std::copysign(select(t < 0.625f, std::fabs(small), large), x);
}

/// 1 / (1 + exp(-x)), with full precision on both sides.
WEFT_VMATH float sigmoid(float x) {
  const float e = exp(-std::fabs(x));
  return select(x < 0.0f, e, 1.0f) / (1.0f + e);
}

WEFT_VMATH float erf(float x) {
  const float t = std::fabs(x), s = x * x;
  float tail = madd(-1.72853470e-5f, t, 3.83197126e-4f);
  const float u = madd(-3.88396438e-3f, t, 2.42546219e-2f);
  tail = madd(tail, s, u);
  tail = madd(tail, t, -1.06777877e-1f);
  tail = madd(tail, t, -6.34846687e-1f);
  tail = madd(tail, t, -1.28717512e-1f);
  tail = madd(tail, t, -t);
  tail = select(t > 4.0f, -104.0f, tail);  // the fit ends there, where erf rounds to 1
  tail = select(x == x, tail, x);
  const float large = std::copysign(1.0f - exp(tail), x);
  float p = -5.96761703e-4f;
  p = madd(p, s, 4.99119423e-3f);
  p = madd(p, s, -2.67681349e-2f);
  p = madd(p, s, 1.12819925e-1f);
  p = madd(p, s, -3.76125336e-1f);
  p = madd(p, s, 1.28379166e-1f);
  return select(t > 0.927734375f, large, madd(p, x, x));
}

/// Beyond this the reduction of sin and cos loses bits: use the C library.
inline constexpr float kTrigonometricLimit = 1073741824.0f;

/// sin(x) for quarter = 0, cos(x) for quarter = 1; |x| <= kTrigonometricLimit.
WEFT_VMATH float sin_quarter(float x, uint32_t quarter) {
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  const double wide = static_cast<double>(x);
  const double shifted = wide * 0.63661977236758134 + kRound;
  const double n = shifted - kRound;
  const uint32_t q = static_cast<uint32_t>(std::bit_cast<uint64_t>(shifted)) + quarter;
#ifdef __FMA__
  const double near = __builtin_fma(n, -1.5707963267948966, wide);
#else
  const double near = (wide - n * 1.570796251296997) - n * 7.549789415861596e-08;
#endif
  const float r = static_cast<float>(near - n * 6.123233995736766e-17), z = r * r;
  float s = madd(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = madd(s, z, -1.6666654611e-1f);
  s = madd(s * z, r, r);
  float c = madd(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = madd(c, z, 4.166664568298827e-2f);
  c = madd(c * z, z, madd(z, -0.5f, 1.0f));
  const float value = select((q & 1u) != 0, c, s);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ ((q & 2u) << 30));
}

/// log(1 + exp(x)) without overflow.
WEFT_VMATH float softplus(float x) { return select(x > 0.0f, x, 0.0f) + log1p(exp(-std::fabs(x))); }

inline double exp(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double log1p(double x) { return std::log1p(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1.0) / (1.0 + e);
}
inline double softplus(double x) { return (x > 0 ? x : 0.0) + std::log1p(std::exp(-std::fabs(x))); }

#undef WEFT_VMATH

}  // namespace weft::kernels::cpu::vmath
