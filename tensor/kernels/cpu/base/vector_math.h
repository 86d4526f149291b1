// Elementary functions of float lanes. V is a float or a register of them (simd.h): one source for both, without
// branches, so that loops over single floats vectorize as well. No -ffast-math; NaN and infinities come out as
// IEEE 754 specifies. Of doubles there are registers only: exp here, the other functions in vector_library.h.
//
// Each function of floats is within 2 ulp of the exact value over its whole range, subnormal results included, but
// where it says otherwise (tests/tensor/kernels/vector_math_test.cc measures it). Polynomials: Cephes (S. Moshier) for
// tanh, sin and cos, N. Juffa's minimax fits for erf; those of exp and log are minimax fits with a relative error below
// 2^-26 and 2^-27.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/base/vector_library.h"

namespace weft::kernels::cpu::vmath {

namespace detail {
/// Integers as wide as a lane, and where its exponent sits in them.
template <class Lane> struct FloatFormat;
template <> struct FloatFormat<float> {
  using Signed = int32_t;
  using Unsigned = uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr uint32_t kBias = 127, kSign = 1u << 31;
  static constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, then in the lower bits
};
template <> struct FloatFormat<double> {
  using Signed = int64_t;
  using Unsigned = uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr uint64_t kBias = 1023, kSign = uint64_t{1} << 63;
  static constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52
};
template <class V> struct LanesOf : FloatFormat<std::remove_cvref_t<decltype(V{}[0])>> {
  using Lane = std::remove_cvref_t<decltype(V{}[0])>;
  using SignedBits = simd::Vec<typename FloatFormat<Lane>::Signed, sizeof(V) / sizeof(Lane)>;
  using Bits = simd::Vec<typename FloatFormat<Lane>::Unsigned, sizeof(V) / sizeof(Lane)>;
};
template <class V>
  requires std::is_arithmetic_v<V>
struct LanesOf<V> : FloatFormat<V> {
  using Lane = V;
  using SignedBits = typename FloatFormat<V>::Signed;
  using Bits = typename FloatFormat<V>::Unsigned;
};
}  // namespace detail

template <class V> using Lane = typename detail::LanesOf<V>::Lane;
template <class V> using Bits = typename detail::LanesOf<V>::Bits;

/// `yes` or `no` lane by lane, without a branch: both are computed.
template <class V> WEFT_SIMD V select(auto condition, V yes, V no) {
  if constexpr (std::is_arithmetic_v<V>) {
    const uint32_t mask = condition ? ~0u : 0u;
    return std::bit_cast<V>((std::bit_cast<uint32_t>(yes) & mask) | (std::bit_cast<uint32_t>(no) & ~mask));
  } else {
    return condition ? yes : no;
  }
}

template <class V> WEFT_SIMD V splat(Lane<V> value) {
  if constexpr (std::is_arithmetic_v<V>)
    return value;
  else
    return simd::splat<Lane<V>, sizeof(V) / sizeof(value)>(value);
}
template <class V> WEFT_SIMD V as_floats(typename detail::LanesOf<V>::SignedBits integers) {
  if constexpr (std::is_arithmetic_v<V>)
    return static_cast<float>(integers);
  else
    return simd::convert_lanes<float, sizeof(V) / sizeof(float)>(integers);
}
template <class V> WEFT_SIMD V absolute(V x) {
  return std::bit_cast<V>(std::bit_cast<Bits<V>>(x) & ~detail::LanesOf<V>::kSign);
}
template <class V> WEFT_SIMD V with_sign_of(V magnitude, V sign) {
  constexpr auto kSign = detail::LanesOf<V>::kSign;
  return std::bit_cast<V>((std::bit_cast<Bits<V>>(magnitude) & ~kSign) | (std::bit_cast<Bits<V>>(sign) & kSign));
}

/// Of floats or doubles, lane by lane. (g++ 12 warns about its own unmasked form for 512 bits.)
template <class V> WEFT_SIMD V square_root(V x) {
  if constexpr (std::is_arithmetic_v<V>) {
    return std::sqrt(x);
  } else {
    [[maybe_unused]] constexpr bool kFloats = std::is_same_v<Lane<V>, float>;  // unused without AVX
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64 && kFloats) return (V)_mm512_maskz_sqrt_ps(0xffff, (__m512)x);
    if constexpr (sizeof(V) == 64 && !kFloats) return (V)_mm512_maskz_sqrt_pd(0xff, (__m512d)x);
#endif
#if defined(__AVX__)
    if constexpr (sizeof(V) == 32 && kFloats) return (V)_mm256_sqrt_ps((__m256)x);
    if constexpr (sizeof(V) == 32 && !kFloats) return (V)_mm256_sqrt_pd((__m256d)x);
#endif
    V v{};
    for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(Lane<V>)); ++i) v[i] = std::sqrt(x[i]);
    return v;
  }
}

/// a * b + c of floats, rounded once; where the machine has no such instruction, by way of doubles.
template <class V> WEFT_SIMD V fused(V a, V b, V c) {
#if defined(__FMA__)
  if constexpr (std::is_arithmetic_v<V>) return __builtin_fmaf(a, b, c);
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#endif
  if constexpr (sizeof(V) == 32) return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  if constexpr (std::is_arithmetic_v<V>) {
    return static_cast<float>(static_cast<double>(a) * b + c);
  } else {
    constexpr int N = sizeof(V) / sizeof(float);
    const auto wide = [](V v) { return simd::convert_lanes<double, N>(v); };
    return simd::convert_lanes<float, N>(wide(a) * wide(b) + wide(c));
  }
#endif
}

/// Whether no lane is larger than `limit` or NaN.
template <class V> WEFT_SIMD bool all_within(V x, float limit) {
  const V size = absolute(x);
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return _mm512_cmp_ps_mask((__m512)size, _mm512_set1_ps(limit), _CMP_NLE_UQ) == 0;
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32)
    return _mm256_movemask_ps(_mm256_cmp_ps((__m256)size, _mm256_set1_ps(limit), _CMP_NLE_UQ)) == 0;
#endif
  for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(float)); ++i)
    if (!(size[i] <= limit)) return false;
  return true;
}

/// table[index modulo 16] lane by lane; the table is aligned to 64 bytes.
template <class V> WEFT_SIMD V lookup(const float* table, Bits<V> index) {
  if constexpr (std::is_arithmetic_v<V>) {
    return table[index & 15u];
  } else {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) return (V)_mm512_maskz_permutexvar_ps(0xffff, (__m512i)index, _mm512_load_ps(table));
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(V) == 32) {
      const __m256 low = _mm256_permutevar8x32_ps(_mm256_load_ps(table), (__m256i)index);
      const __m256 high = _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), (__m256i)index);
      return (V)_mm256_blendv_ps(low, high, (__m256)(index << 28));
    }
#endif
    V v{};
    for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(float)); ++i) v[i] = table[index[i] & 15u];
    return v;
  }
}

/// p 2^n, where `shifted` is n + kRounder; NaN leaves garbage in the bits of n, but what it scales is NaN.
template <class V> WEFT_SIMD V times_power(V p, V shifted) {
  using L = detail::LanesOf<V>;
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(Lane<V>) == 4)
    return (V)_mm512_maskz_scalef_ps(0xffff, (__m512)p, (__m512)(shifted - L::kRounder));
  if constexpr (sizeof(V) == 64 && sizeof(Lane<V>) == 8)
    return (V)_mm512_maskz_scalef_pd(0xff, (__m512d)p, (__m512d)(shifted - L::kRounder));
#endif
  const auto power = std::bit_cast<Bits<V>>(shifted) - std::bit_cast<Bits<V>>(splat<V>(L::kRounder));
  const auto half = std::bit_cast<Bits<V>>(std::bit_cast<typename L::SignedBits>(power) >> 1);
  // Two factors, so that neither leaves the range of an exponent.
  return p * std::bit_cast<V>((half + L::kBias) << L::kMantissa) *
         std::bit_cast<V>((power - half + L::kBias) << L::kMantissa);
}

namespace detail {
/// e^x = (1 + rest) 2^n, and n as times_power takes it.
template <class V> struct Exponential { V rest, shifted; };

/// e^r - 1 by a minimax polynomial; |r| <= ln(2) / 2.
template <class V> WEFT_SIMD V near_expm1(V r) {
  const V z = r * r;  // pairs of terms, as in log: half as long a wait as one term after the other
  V p = z * 1.3882520142942667e-3f + (r * 8.366527035832405e-3f + 4.166720062494278e-2f);
  p = p * z + (r * 1.666654348373413e-1f + 4.999999701976776e-1f);
  return p * z + r;
}

/// Cody and Waite's reduction; -104 <= x <= 89.
template <class V> WEFT_SIMD Exponential<V> exponential(V x) {
  constexpr float kRounder = FloatFormat<float>::kRounder;
  const V shifted = x * 1.44269504f + kRounder;
  const V n = shifted - kRounder;
  return {near_expm1((x - n * 0.693359375f) - n * -2.12194440e-4f), shifted};
}

/// What rounds to 0 (a score that a mask hides) is not scaled: an instruction whose result is below the normal numbers
/// takes a hundred times as long.
template <class V> WEFT_SIMD V exp_of_floats(V x) {
  const V lowest = splat<V>(-104.0f);
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    const auto [rest, shifted] = exponential(x);
    const __mmask16 remains = _mm512_cmp_ps_mask((__m512)x, (__m512)lowest, _CMP_NLE_UQ);  // true for NaN
    return (V)_mm512_maskz_scalef_ps(remains, (__m512)(rest + 1.0f), (__m512)(shifted - FloatFormat<float>::kRounder));
  }
#endif
  const auto [rest, shifted] = exponential(simd::larger(lowest, x));
  return times_power(select(x <= lowest, V{}, rest + 1.0f), shifted);
}

/// The same in double: the Taylor polynomial of degree 13 is exact to rounding on |r| <= ln(2) / 2.
template <class V> WEFT_SIMD V exp_of_doubles(V x) {
  constexpr double kRounder = FloatFormat<double>::kRounder;
  x = simd::smaller(splat<V>(710.0), simd::larger(splat<V>(-746.0), x));
  const V shifted = x * 1.4426950408889634 + kRounder;
  const V n = shifted - kRounder;
  const V r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  V p = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = (p * (r * r) + r) + 1.0;
  return times_power(p, shifted);
}
}  // namespace detail

/// e^x: overflow gives inf, underflow goes through the subnormals to 0, exp(0) is exactly 1.
template <class V> WEFT_SIMD V exp(V x) {
  if constexpr (std::is_same_v<Lane<V>, float>)
    return detail::exp_of_floats(simd::smaller(splat<V>(89.0f), x));
  else
    return detail::exp_of_doubles(x);
}
/// The same for x <= 0 or NaN, an instruction shorter.
template <class V> WEFT_SIMD V exp_below(V x) {
  if constexpr (std::is_same_v<Lane<V>, float>)
    return detail::exp_of_floats(x);
  else
    return exp(x);
}

namespace detail {
/// x = (1 + rest) 2^exponent with 0.75 <= 1 + rest < 1.5. The exponent of 0 is -inf, that of inf is inf; the rest is
/// NaN for NaN and below 0.
template <class V> struct Split { V rest, exponent; };
template <class V> WEFT_SIMD Split<V> split(V x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    const V mantissa = (V)_mm512_maskz_getmant_ps(0xffff, (__m512)x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    const V exponent = (V)_mm512_maskz_getexp_ps(0xffff, (__m512)x);  // as if the mantissa were in [1, 2)
    return {mantissa - 1.0f, select(mantissa < 1.0f, exponent + 1.0f, exponent)};
  }
#endif
  using Signed = typename LanesOf<V>::SignedBits;
  constexpr uint32_t kLowest = 0x3f400000u;  // 0.75
  const V zero{}, infinity = splat<V>(std::numeric_limits<float>::infinity());
  const auto tiny = x < std::numeric_limits<float>::min();
  const Bits<V> word = std::bit_cast<Bits<V>>(select(tiny, x * 33554432.0f, x)) - kLowest;  // subnormal: times 2^25
  V exponent = as_floats<V>(std::bit_cast<Signed>(word) >> 23) - select(tiny, splat<V>(25.0f), zero);
  exponent = select(x == infinity, x, exponent);
  exponent = select(x == zero, -infinity, exponent);
  const V rest = std::bit_cast<V>((word & 0x7fffffu) + kLowest) - 1.0f;
  return {select(x >= zero, rest, splat<V>(std::numeric_limits<float>::quiet_NaN())), exponent};  // NaN compares false
}

/// log(1 + f) - f; -0.25 <= f < 0.5.
template <class V> WEFT_SIMD V log_tail(V f) {
  const V z = f * f;
  V p = (f * -4.5074816793203354e-2f + 1.0463022440671921e-1f) * z +
        (f * -1.316119283437729e-1f + 1.4478394389152527e-1f);
  p = p * z + (f * -1.664731204509735e-1f + 1.9990861415863037e-1f);
  p = p * z + (f * -2.500009536743164e-1f + 3.333345055580139e-1f);
  return z * -0.5f + p * f * z;
}
}  // namespace detail

template <class V> WEFT_SIMD V log(V x) {
  const auto [f, exponent] = detail::split(x);
  return exponent * 6.93147181e-1f + (f + detail::log_tail(f));
}

/// log(1 + x), exact for tiny x.
template <class V> WEFT_SIMD V log1p(V x) {
  const V zero{}, infinity = splat<V>(std::numeric_limits<float>::infinity());
  const V u = x + 1.0f;
  const V lost = select(u >= 2.0f, 1.0f - (u - x), x - (u - 1.0f));  // what rounding took from 1 + x
  const V r = log(u) + lost / u;
  return select((x == zero) | (u == infinity) | (u == zero), select(u == zero, -infinity, x), r);
}

template <class V> WEFT_SIMD V tanh(V x) {
  const V t = absolute(x), z = x * x;
  V p = z * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const V small = p * (z * x) + x;
  const auto [rest, shifted] =
      detail::exponential(simd::smaller(splat<V>(20.0f), t * 2.0f));  // 1 to rounding from there
  const V large = 1.0f - 2.0f / (times_power(rest + 1.0f, shifted) + 1.0f);
  return with_sign_of(select(t < 0.625f, small, large), x);
}

/// 1 / (1 + exp(-x)), with full precision on both sides: 2.5 ulp.
template <class V> WEFT_SIMD V sigmoid(V x) {
  const V e = exp_below(-absolute(x));
  return select(x < V{}, e, splat<V>(1)) / (e + Lane<V>(1));
}

template <class V> WEFT_SIMD V erf(V x) {
  const V t = absolute(x), s = x * x;
  V tail = t * -1.72853470e-5f + 3.83197126e-4f;
  const V u = t * -3.88396438e-3f + 2.42546219e-2f;
  tail = tail * s + u;
  tail = tail * t - 1.06777877e-1f;
  tail = tail * t - 6.34846687e-1f;
  tail = tail * t - 1.28717512e-1f;
  tail = tail * t - t;
  tail = select(t > 4.0f, splat<V>(-104.0f), tail);  // the fit ends there, where erf rounds to 1
  tail = select(x == x, tail, x);
  const V large = with_sign_of(1.0f - exp(tail), x);
  V p = s * -5.96761703e-4f + 4.99119423e-3f;
  p = p * s - 2.67681349e-2f;
  p = p * s + 1.12819925e-1f;
  p = p * s - 3.76125336e-1f;
  p = p * s + 1.28379166e-1f;
  return select(t > 0.927734375f, large, p * x + x);
}

/// log(1 + exp(x)) without overflow.
template <class V> WEFT_SIMD V softplus(V x) { return select(x > V{}, x, V{}) + log1p(exp_below(-absolute(x))); }

/// Beyond this the reduction of sin and cos loses bits: use the C library.
#ifdef __FMA__
inline constexpr float kTrigonometricLimit = 1073741824.0f;  // 2^30
#else
inline constexpr float kTrigonometricLimit =
    33554432.0f;  // 2^25: the quarters counted times pi / 2 are exact in double
#endif

namespace detail {
/// a * b + c, in one rounding where the machine has it.
WEFT_SIMD float madd(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

/// x = n pi / 2 + rest with |rest| <= pi / 4; the lowest bits of n.
struct Quarter {
  float rest;
  uint32_t n;
};
WEFT_SIMD Quarter quarter_of(float x) {
  constexpr double kRounder = FloatFormat<double>::kRounder;
  const double wide = static_cast<double>(x);
  const double shifted = wide * 0.63661977236758134 + kRounder;
  const double n = shifted - kRounder;
#ifdef __FMA__
  const double near = __builtin_fma(n, -1.5707963267948966, wide) - n * 6.123233995736766e-17;
#else
  const double near = (wide - n * 1.57079625129699707031) - n * 7.54978995489188216e-08;
#endif
  return {static_cast<float>(near), static_cast<uint32_t>(std::bit_cast<uint64_t>(shifted))};
}
}  // namespace detail

/// sin(x) for quarter = 0, cos(x) for quarter = 1; |x| <= kTrigonometricLimit.
WEFT_SIMD float sin_quarter(float x, uint32_t quarter) {
  using detail::madd;
  const auto [r, n] = detail::quarter_of(x);
  const uint32_t q = n + quarter;
  const float z = r * r;
  float s = madd(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = madd(s, z, -1.6666654611e-1f);
  // The sign of r: the sum of zeros would lose that of -0.
  s = std::bit_cast<float>(std::bit_cast<uint32_t>(madd(s * z, r, r)) | (std::bit_cast<uint32_t>(r) & 0x80000000u));
  float c = madd(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = madd(c, z, 4.166664568298827e-2f);
  c = madd(c * z, z, madd(z, -0.5f, 1.0f));
  const float value = select((q & 1u) != 0, c, s);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ ((q & 2u) << 30));
}

}  // namespace weft::kernels::cpu::vmath
