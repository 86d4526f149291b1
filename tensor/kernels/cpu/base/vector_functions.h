// More elementary functions of float lanes, made of those of vector_math.h and under the same rules: V is a float or a
// register of them, no branches, NaN and infinities as IEEE-754 wants, within 2 ulp (tan and atan 2.5). Polynomials of
// tan, atan and sinh: Cephes (S. Moshier).
#pragma once

#include <concepts>

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

template <class V, int... I> WEFT_SIMD auto join(V low, V high, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(low, high, I...);
}

/// f of registers of floats, computed in double, half a register at a time.
template <class F, class V, class... More> WEFT_SIMD V in_doubles(F f, V x, More... more) {
  constexpr int N = sizeof(V) / sizeof(float), kHalf = N / 2;
  const auto half = [&]<int kFirst>(std::integral_constant<int, kFirst>) {
    const auto wide = [&](V v) { return simd::convert_lanes<double, kHalf>(simd::lanes<kFirst, kHalf>(v)); };
    return simd::convert_lanes<float, kHalf>(f(wide(x), wide(more)...));
  };
  return join(half(std::integral_constant<int, 0>{}), half(std::integral_constant<int, kHalf>{}),
              std::make_integer_sequence<int, N>{});
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
  constexpr double kPi = 3.14159265358979323846, kEighth = 0.41421356237309503;  // tan(pi / 8)
  const V longest = splat<V>(1e300);                                             // infinities are as long as each other
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

// sin and cos within 1 ulp: the angle that is left of whole quarters, and what rounding took from it.
namespace detail {
template <class V> struct Quarters {
  V rest, low;
  Bits<V> count;
};

/// Where the rest of the first of the three floats that pi / 2 is here is exact.
inline constexpr float kNearLimit = 0x1p20f;
template <class V> WEFT_SIMD Quarters<V> near_quarters(V x) {
  constexpr float kRounder = FloatFormat<float>::kRounder, kSecond = 7.54978942e-08f;
  const V shifted = x * 0.636619772f + kRounder, n = shifted - kRounder;
  const V first = fused(n, splat<V>(-1.57079625f), x), more = n * kSecond, rest = first - more;
  const V lost = fused(n, splat<V>(5.3903025e-15f), fused(n, splat<V>(kSecond), -more));
  return {rest, ((first - rest) - more) - lost, std::bit_cast<Bits<V>>(shifted)};
}

/// The same in doubles, of which the first two have so few bits that their products are exact.
inline constexpr float kFarLimit = 0x1p30f;
template <class V> WEFT_SIMD Quarters<V> far_quarters(V x) {
  const auto whole = [](auto v) { return (v + FloatFormat<double>::kRounder) - FloatFormat<double>::kRounder; };
  const auto rest = [whole](auto v) {
    const auto n = whole(v * 0.63661977236758134);
    return ((v - n * 0x1.921fb4p0) - n * 0x1.4442dp-24) - n * 0x1.8469898cc517p-48;
  };
  const auto low = [rest](auto v) {
    constexpr int N = sizeof(v) / sizeof(double);
    const auto r = rest(v);
    return r - simd::convert_lanes<double, N>(simd::convert_lanes<float, N>(r));
  };
  const auto count = [whole](auto v) {  // modulo 4
    const auto n = whole(v * 0.63661977236758134);
    return n - whole(n * 0.25) * 4.0;
  };
  return {in_doubles(rest, x), in_doubles(low, x),
          std::bit_cast<Bits<V>>(in_doubles(count, x) + FloatFormat<float>::kRounder)};
}

/// The sine of `angle`.
template <class V> WEFT_SIMD V sine_of(Quarters<V> angle) {
  const auto [r, low, q] = angle;
  const V z = r * r, half = r * -0.5f, one = splat<V>(1.0f), near = fused(half, r, one);
  V c = z * 2.43767699e-05f - 0.00138868054f;
  c = c * z + 0.0416666344f;
  c = near + (c * (z * z) + fused(-r, low, fused(half, r, one - near)));
  V s = z * -0.000194623208f + 0.00833175145f;
  s = s * z - 0.166666478f;
  s = r + (s * z * r + low * near);
  s = std::bit_cast<V>(std::bit_cast<Bits<V>>(s) | (std::bit_cast<Bits<V>>(r) & FloatFormat<float>::kSign));  // of -0
  return std::bit_cast<V>(std::bit_cast<Bits<V>>(select((q & 1u) != 0, c, s)) ^ ((q & 2u) << 30));
}
}  // namespace detail

/// sin(x) for quarter = 0, cos(x) for quarter = 1, of registers of floats.
template <uint32_t quarter, class V> WEFT_SIMD V sine(V x) {
  const auto sine_from = [](detail::Quarters<V> angle) {
    angle.count += quarter;
    return detail::sine_of(angle);
  };
  V y = sine_from(detail::near_quarters(x));
  if (all_within(x, detail::kNearLimit)) return y;
  y = select(absolute(x) <= detail::kNearLimit, y, sine_from(detail::far_quarters(x)));
  for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(float)); ++i)
    if (!(std::fabs(x[i]) <= detail::kFarLimit)) y[i] = quarter == 0 ? std::sin(x[i]) : std::cos(x[i]);
  return y;
}

// asin, acos and erfc within 1 ulp: what rounding takes from the largest part of the sum is kept and added to the small
// parts. Polynomials are minimax fits with a relative error below 2^-26.
namespace detail {
template <class V> WEFT_SIMD V root_of_floats(V x) {
  if constexpr (std::is_arithmetic_v<V>) {
    return std::sqrt(x);
  } else {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) return (V)_mm512_maskz_sqrt_ps(0xffff, (__m512)x);
#endif
#if defined(__AVX__)
    if constexpr (sizeof(V) == 32) return (V)_mm256_sqrt_ps((__m256)x);
#endif
    V v{};
    for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(float)); ++i) v[i] = std::sqrt(x[i]);
    return v;
  }
}

/// first + rest: asin(t) of t up to 0.5, else asin(root) of the root of (1 - t) / 2; NaN above 1.
template <class V> struct HalfAsin { V first, rest; };
template <class V> WEFT_SIMD HalfAsin<V> half_asin(V t) {
  const auto large = t > 0.5f;
  const V z = select(large, t * -0.5f + 0.5f, t * t), root = root_of_floats(z);
  // The inverse of the root to five bits is enough for what rounding took from it (the "fast inverse square root").
  const V inverse = std::bit_cast<V>(0x5f3759dfu - (std::bit_cast<Bits<V>>(z) >> 1));
  const V low = fused(-root, root, z) * (inverse * 0.5f), s = select(large, root, t);
  V p = z * 0.0422185697f + 0.0241475999f;
  p = p * z + 0.0454770997f;
  p = p * z + 0.0749524161f;
  p = p * z + 0.166667536f;
  return {s, p * (z * s) + select(large, low, V{})};
}
inline constexpr float kHalfPi = 1.57079637f, kHalfPiLow = -4.37113883e-8f;

/// 2^(j / 16), and what is missing, in relation to it.
alignas(64) inline constexpr float kPowers[16] = {
    1.0f,        1.04427373f, 1.09050775f, 1.13878858f, 1.18920708f, 1.24185777f, 1.29683959f, 1.35425556f,
    1.41421354f, 1.47682619f, 1.54221082f, 1.61049032f, 1.68179286f, 1.75625217f, 1.8340081f,  1.91520655f};
alignas(64) inline constexpr float kPowersLow[16] = {0.0f,
                                                     4.62854708e-08f,
                                                     -1.19921571e-08f,
                                                     4.72978236e-08f,
                                                     3.19341809e-08f,
                                                     3.62105731e-08f,
                                                     -3.09907208e-08f,
                                                     -7.47521317e-09f,
                                                     1.71142713e-08f,
                                                     -3.04768342e-08f,
                                                     5.23333425e-09f,
                                                     6.10759162e-09f,
                                                     -1.47196054e-08f,
                                                     -5.25879512e-09f,
                                                     -6.12825982e-09f,
                                                     5.14060921e-09f};
/// erfc(t) e^(t^2) on pieces, four of them between powers of 2 of t + 1, by the bits of that: the middle of each, and
/// the polynomial about it, highest first.
alignas(64) inline constexpr float kErfc[8][16] = {
    {1.25004339f, 1.75000238f, 2.25008512f, 2.75000572f, 3.5000515f, 4.50005388f, 5.5001359f, 6.50012302f, 8.00023174f,
     9.63008881f, 0.0f, 0.0f, 0.125003308f, 0.375002325f, 0.625005066f, 0.875017405f},
    {0.0035974679f, 0.00104708341f, 0.000351233553f, 0.000131563953f, 3.69606205e-05f, 8.55579492e-06f, 2.48446622e-06f,
     8.57546183e-07f, 2.2436808e-07f, 6.40796856e-08f, 0.0f, 0.0f, 0.107462697f, 0.0460957661f, 0.0209284294f,
     0.00996452291f},
    {-0.00922645349f, -0.0030576291f, -0.00115476374f, -0.000485765835f, -0.000159104689f, -4.42571945e-05f,
     -1.51001914e-05f, -5.99999794e-06f, -1.88825663e-06f, -6.38660993e-07f, 0.0f, 0.0f, -0.201513261f, -0.0928893611f,
     -0.0451384969f, -0.0230341498f},
    {0.0220084153f, 0.0084043853f, 0.00361846015f, 0.00171961123f, 0.00065255462f, 0.000221240451f, 8.94685945e-05f,
     4.12057634e-05f, 1.53928868e-05f, 6.29942042e-06f, 0.0f, 0.0f, 0.345760345f, 0.172414094f, 0.0905322805f,
     0.0498260148f},
    {-0.0502099209f, -0.0222588331f, -0.0110004824f, -0.00593419978f, -0.00267248484f, -0.00110443973f,
     -0.000529393787f, -0.000282709574f, -0.000127751133f, -6.22505249e-05f, 0.0f, 0.0f, -0.543411911f, -0.295414954f,
     -0.168826059f, -0.100910097f},
    {0.106789038f, 0.055763457f, 0.0319898166f, 0.019758489f, 0.0106607229f, 0.00541294692f, 0.00309079653f,
     0.00192010356f, 0.00105301465f, 0.000612085103f, 0.0f, 0.0f, 0.759457231f, 0.455610305f, 0.286585182f,
     0.187951654f},
    {-0.208812639f, -0.130976081f, -0.0884810612f, -0.0632374138f, -0.0413224921f, -0.0260153487f, -0.0177939255f,
     -0.0129049839f, -0.00861602277f, -0.0059878109f, 0.0f, 0.0f, -0.910068691f, -0.613984108f, -0.432358921f,
     -0.31582737f},
    {0.367813855f, 0.284971923f, 0.231079727f, 0.193661734f, 0.155291528f, 0.122483402f, 0.1009598f, 0.0858040825f,
     0.0699831694f, 0.058275234f, 0.0f, 0.0f, 0.873218834f, 0.685855806f, 0.55681169f, 0.464306086f}};
}  // namespace detail

template <class V> WEFT_SIMD V asin(V x) {
  const V t = absolute(x);
  const auto [s, rest] = detail::half_asin(t);
  const V far = detail::kHalfPi - 2.0f * s, lost = (detail::kHalfPi - far) - 2.0f * s;
  return with_sign_of(select(t > 0.5f, far + (lost + (detail::kHalfPiLow - 2.0f * rest)), s + rest), x);
}

/// A multiple of pi / 2 less once or twice the half asin, with a sign.
template <class V> WEFT_SIMD V acos(V x) {
  const V t = absolute(x), one = splat<V>(1.0f);
  const auto [s, rest] = detail::half_asin(t);
  const auto large = t > 0.5f;
  const V factor = with_sign_of(one, x) * select(large, splat<V>(-2.0f), one), angle = s * factor;
  const V high = select(large, select(x < 0.0f, splat<V>(2.0f * detail::kHalfPi), V{}), splat<V>(detail::kHalfPi));
  const V near = high - angle, lost = (high - near) - angle;
  return near + (lost + (high * (detail::kHalfPiLow / detail::kHalfPi) - rest * factor));
}

/// e^(-t^2) = 2^m 2^(j / 16) e^r times a polynomial of the piece, mirrored below 0.
template <class V> WEFT_SIMD V erfc(V x) {
  constexpr float kRounder = detail::FloatFormat<float>::kRounder;
  const V t = simd::smaller(splat<V>(10.25f), absolute(x));  // where it is 0 in floats
  const V square = t * t, lost = fused(t, t, -square);
  const V shifted = square * -23.0831207f + kRounder, n = shifted - kRounder;  // 16 / ln(2)
  const V r = (fused(n, splat<V>(-0.0433216989f), -square) + n * 1.19040888e-10f) - lost;
  const Bits<V> bits = std::bit_cast<Bits<V>>(shifted), piece = std::bit_cast<Bits<V>>(t + 1.0f) >> 21;
  const V growth = r + (r * r * (r * 0.166666667f + 0.5f) + lookup<V>(detail::kPowersLow, bits));
  const V s = t - lookup<V>(detail::kErfc[0], piece), first = lookup<V>(detail::kErfc[7], piece);
  V p = lookup<V>(detail::kErfc[1], piece);
#pragma GCC unroll 5
  for (int i = 2; i < 7; ++i) p = p * s + lookup<V>(detail::kErfc[i], piece);
  p = p * s;
  p = p + growth * (first + p);
  const V power = lookup<V>(detail::kPowers, bits);
  const V m = as_floats<V>(std::bit_cast<typename detail::LanesOf<V>::SignedBits>(bits << 10) >> 14);  // n / 16, down
  const V value = times_power(fused(power, first, power * p), m + kRounder);
  return select(x == x, select(x < 0.0f, 2.0f - value, value), x);
}

// More inverse functions of registers of floats, computed in double: within 1 ulp. Polynomials are Chebyshev fits with
// a relative error below 2e-8; erfinv goes by w = -log(1 - y^2) as M. Giles's ("Approximating the erfinv
// function", 2011).
namespace detail {
template <class V> WEFT_SIMD V root_of_doubles(V x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return (V)_mm512_maskz_sqrt_pd(0xff, (__m512d)x);
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32) return (V)_mm256_sqrt_pd((__m256d)x);
#endif
  V v{};
  for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(double)); ++i) v[i] = std::sqrt(x[i]);
  return v;
}

template <class V, size_t n> WEFT_SIMD V polynomial(V x, const double (&highest_first)[n]) {
  V p = splat<V>(highest_first[0]);
  for (size_t i = 1; i < n; ++i) p = p * x + highest_first[i];
  return p;
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
  const V value = select(w < 5.0, polynomial(w - 2.5, kNear), polynomial(root_of_doubles(w) - 3.0, kFar)) * y;
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
