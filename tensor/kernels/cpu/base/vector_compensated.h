// sin, cos, asin, acos and erfc of registers of floats within 1 ulp: what rounding takes from the largest part of a sum
// is kept and added to the small parts. Polynomials are minimax fits with a relative error below 2^-26.
#pragma once

#include "tensor/kernels/cpu/base/vector_functions.h"

namespace weft::kernels::cpu::vmath {

namespace detail {
/// The angle that is left of whole quarters of a turn, what rounding took from it, and their number.
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

namespace detail {
/// first + rest: asin(t) of t up to 0.5, else asin(root) of the root of (1 - t) / 2; NaN above 1.
template <class V> struct HalfAsin { V first, rest; };
template <class V> WEFT_SIMD HalfAsin<V> half_asin(V t) {
  const auto large = t > 0.5f;
  const V z = select(large, t * -0.5f + 0.5f, t * t), root = square_root(z);
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

}  // namespace weft::kernels::cpu::vmath
