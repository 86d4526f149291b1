// The regularized incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x) of registers of doubles; those of floats
// are computed in double as well. Each lane is computed in one of four ways (M. Abramowitz and I. Stegun, chapter 6;
// NIST Digital Library of Mathematical Functions, chapter 8), as A. Gil, J. Segura and N. Temme advise ("Efficient and
// accurate algorithms for the computation and inversion of the incomplete gamma function ratios", 2012), and a way is
// taken only if a lane needs it:
//
//   a >= 20, x within 40 % of a    Temme's expansion for large a, which is uniform in x / a (DLMF 8.12)
//   x <= max(a, 1.1)               the series of P, whose terms are positive (6.5.29); Q is 1 - P, but
//   x <= 1.1 and P near 1          Q is summed from its own series
//   else                           the continued fraction of Q (6.5.31); P is 1 - Q
#pragma once

#include <algorithm>
#include <limits>
#include <numbers>

#include "tensor/kernels/cpu/base/vector_normal.h"

namespace weft::kernels::cpu::vmath {

namespace detail {
/// Where the expansions for large a begin.
inline constexpr double kLargeShape = 20;

/// log(1 + u) - u of -0.6 <= u <= 1.5, by the inverse hyperbolic tangent of u / (2 + u).
template <class V> WEFT_SIMD V log1p_less_itself(V u) {
  constexpr double kSeries[] = {2.0 / 51, 2.0 / 49, 2.0 / 47, 2.0 / 45, 2.0 / 43, 2.0 / 41, 2.0 / 39,
                                2.0 / 37, 2.0 / 35, 2.0 / 33, 2.0 / 31, 2.0 / 29, 2.0 / 27, 2.0 / 25,
                                2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11,
                                2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};
  const V r = u / (u + 2.0), z = r * r;
  return long_polynomial(z, kSeries) * z * r - u * r;
}

/// (1 / Gamma(1 + a) - 1) / a of 0 <= a <= 1.25.
template <class V> WEFT_SIMD V reciprocal_gamma_slope(V a) {
  constexpr double kFit[] = {2.0645620816204265e-14, -9.383634997259576e-14,  -1.0741239482537768e-12,
                             2.1602418616282448e-11, -1.528522010399671e-10,  -9.990111713147897e-11,
                             1.2255059412355933e-08, -1.0911340779956204e-07, 2.3255442330115262e-07,
                             3.79635967150489e-06,   -3.828199158862789e-05,  0.00010388153535631652,
                             0.0006598877263670192,  -0.006247085452021537,   0.012667097909683223,
                             0.06322091016747239,    -0.3488527323281372,     0.18457048745475602};
  return polynomial(a * 1.6 - 1.0, kFit);
}

/// -log of x^a e^-x divided by its largest value, which is at x = a: a (m - log(1 + m)) with m = x / a - 1.
template <class V> WEFT_SIMD V fall_from_peak(V a, V x) {
  const V m = (x - a) / a;
  const auto near = (m >= -0.6) & (m <= 1.5);
  const V small = -log1p_less_itself(select(near, m, V{}));
  return a * (any_lane(~near) ? select(near, small, m - log(x / a)) : small);
}

/// x^a e^-x / Gamma(a + 1) of a >= kLargeShape: Stirling's series (6.1.41).
template <class V> WEFT_SIMD V large_gamma_term(V a, V x) {
  constexpr double kSeries[] = {-691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
  const V inverse = 1.0 / a, series = polynomial(inverse * inverse, kSeries) * inverse;
  return exp(-fall_from_peak(a, x) - series) / square_root(a * (2 * std::numbers::pi));
}

/// x^power e^-x / Gamma(a + 1) of a below that: Gamma steps down to [1, 2) (6.1.15).
template <class V> WEFT_SIMD V small_gamma_term(V a, V x, V power) {
  constexpr double kRounder = FloatFormat<double>::kRounder;
  const V nearest = (a + kRounder) - kRounder, whole = select(nearest > a, nearest - 1.0, nearest), part = a - whole;
  V product = splat<V>(1.0);
  for (double k = 1; k < kLargeShape && any_lane(whole >= k); ++k)
    product *= select(whole >= k, part + k, splat<V>(1.0));
  x = simd::smaller(x, splat<V>(2000.0));  // from there on the result is 0
  const V half = exp(x * -0.5);            // e^-x alone leaves the normal numbers earlier than the product
  return pow(x, power) * half * half * (1.0 + part * reciprocal_gamma_slope(part)) / product;
}

/// The same of all a > 0; power must be a where a >= kLargeShape.
template <class V> WEFT_SIMD V gamma_term(V a, V x, V power) {
  const auto large = a >= kLargeShape;
  V value{};
  if (any_lane(large)) value = large_gamma_term(select(large, a, splat<V>(kLargeShape)), x);
  if (!any_lane(a < kLargeShape)) return value;
  const V one = splat<V>(1.0);
  return select(large, value, small_gamma_term(select(large, one, a), x, select(large, one, power)));
}

/// P or Q, the smaller of the two where a is large, and which of them it is.
template <class V> struct Share {
  V value;
  decltype(V{} < V{}) is_upper;
};

/// C_k(eta) of DLMF 8.12.10 as power series, highest first.
struct TemmeSeries {
  static constexpr double kC0[] = {2.4361948020667415e-11, -5.830772132550426e-11,  -2.5514193994946248e-11,
                                   9.14769958223679e-10,   -4.382036018453353e-09,  1.0261809784240309e-08,
                                   6.707853543401498e-09,  -1.7665952736826078e-07, 8.296711340953087e-07,
                                   -1.85406221071516e-06,  -2.185448510679992e-06,  3.919263178522438e-05,
                                   -0.0001787551440329218, 0.0003527336860670194,   0.0011574074074074073,
                                   -0.014814814814814815,  0.08333333333333333,     -0.3333333333333333};
  static constexpr double kC1[] = {
      4.162792991842583e-10,  -1.0091543710600413e-09, -1.7543241719747647e-11, 1.1951628599778148e-08,
      -5.752545603517705e-08, 1.378633446915721e-07,   4.647127802807434e-09,   -1.6120900894563446e-06,
      7.64916091608111e-06,   -1.8098550334489977e-05, -4.018775720164609e-07,  0.00020576131687242798,
      -0.0009902263374485596, 0.0026455026455026454,   -0.003472222222222222,   -0.001851851851851852};
  static constexpr double kC2[] = {-1.3670488396617114e-09, 6.228974084922022e-09,  -1.409252991086752e-08,
                                   -2.0477098421990866e-10, 1.4280614206064242e-07, -6.298992138380055e-07,
                                   1.3721957309062934e-06,  3.423578734096138e-08,  -1.2760635188618728e-05,
                                   5.2923448829120125e-05,  -0.0001073665322636516, 2.0093878600823047e-06,
                                   0.0007716049382716049,   -0.0026813271604938273, 0.004133597883597883};
  static constexpr double kC3[] = {-1.9111168485973655e-08, 8.099464905388083e-08,  -1.6958404091930278e-07,
                                   -2.7861080291528143e-11, 1.4230900732435883e-06, -5.6749528269915965e-06,
                                   1.1082654115347302e-05,  -2.396505113867297e-07, -7.561801671883977e-05,
                                   0.00026772063206283885,  -0.0004691894943952557, 0.00022947209362139917,
                                   0.0006494341563786008};
  static constexpr double kC4[] = {-2.292934834000805e-07, 8.907507532205309e-07,   -1.6954149536558305e-06,
                                   2.507497226237533e-10,  1.1375726970678419e-05,  -3.968365047179435e-05,
                                   6.641498215465122e-05,  -1.4638452578843418e-06, -0.0002990724803031902,
                                   0.0007840392217200666,  -0.0008618882909167117};
  static constexpr double kC5[] = {3.4652846491085265e-07, -3.252473551298454e-10,  -2.291481176508095e-06,
                                   8.018470256334202e-06,  -1.3594048189768693e-05, 1.419062920643967e-07,
                                   6.797780477937208e-05,  -0.00019932570516188847, 0.0002772753244959392,
                                   -6.972813758365857e-05, -0.00033679855336635813};
  static constexpr double kC6[] = {3.465155368803609e-06, -3.0796134506033047e-09, -1.8329116582843375e-05,
                                   5.61168275310625e-05,  -8.153969367561969e-05,  7.902353232660328e-07,
                                   0.0002708782096718045, -0.0005921664373536939,  0.0005313079364639922};
  static constexpr double kC7[] = {-1.8263488805711332e-05, 2.7744451511563645e-05, -1.2741009095484485e-07,
                                   -0.00010976582244684731, 0.0002812695154763237,  -0.00033493161081142234,
                                   5.171790908260592e-05,   0.00034436760689237765};
  static constexpr double kC8[] = {-0.00012783517679769218, 0.00016644846642067547, -6.969091458420552e-07,
                                   -0.000438297098541721,   0.0008394987206720873,  -0.0006526239185953094};
  static constexpr double kC9[] = {-0.0006401475260262758, 0.0006782308837667328, -7.204895416020011e-05,
                                   -0.0005967612901927463};
  static constexpr double kC10[] = {-0.0019144384985654776, 0.0013324454494800656};
};

/// DLMF 8.12.3 and 8.12.4, with 8.12.7.
template <class V> WEFT_SIMD Share<V> temme_share(V a, V x) {
  const V m = (x - a) / a, half_square = -log1p_less_itself(m), root = square_root(half_square * 2.0);
  const V eta = with_sign_of(root, m), inverse = 1.0 / a, power = exp(-a * half_square);
  V sum = polynomial(eta, TemmeSeries::kC10);
  sum = sum * inverse + polynomial(eta, TemmeSeries::kC9);
  sum = sum * inverse + polynomial(eta, TemmeSeries::kC8);
  sum = sum * inverse + polynomial(eta, TemmeSeries::kC7);
  sum = sum * inverse + polynomial(eta, TemmeSeries::kC6);
  sum = sum * inverse + polynomial(eta, TemmeSeries::kC5);
  sum = sum * inverse + polynomial(eta, TemmeSeries::kC4);
  sum = sum * inverse + polynomial(eta, TemmeSeries::kC3);
  sum = sum * inverse + polynomial(eta, TemmeSeries::kC2);
  sum = sum * inverse + polynomial(eta, TemmeSeries::kC1);
  sum = sum * inverse + polynomial(eta, TemmeSeries::kC0);
  const V shift = with_sign_of(splat<V>(1.0), m) * sum / square_root(a * (2 * std::numbers::pi));
  return {power * (erfcx_of_sizes(square_root(a * half_square)) * 0.5 + shift), m >= 0.0};
}

/// The sum of P's series divided by its first term: 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...
template <class V> WEFT_SIMD V lower_series(V a, V x, double precision) {
  V term = splat<V>(1.0), sum = term, next = a;
  for (int k = 0; k < 400 && any_lane(term > sum * precision); ++k) {
    next += 1.0;
    term *= x / next;
    sum += term;
  }
  return sum;
}

/// Q of x <= 1.1 and a <= 1.25: 1 - x^a / Gamma(a + 1) - x^a / Gamma(a) (-x / (a + 1) + x^2 / (2 (a + 2)) - ...), of
/// which the first difference is computed without cancellation.
template <class V> WEFT_SIMD V upper_series(V a, V x, double precision) {
  V sum{}, term = splat<V>(1.0);
  for (double k = 1; k <= 22 && any_lane(absolute(term) > precision); ++k) {
    term *= x * (-1 / k);
    sum += term / (a + k);
  }
  const V grown = expm1(a * log(x)), slope = reciprocal_gamma_slope(a);
  return -grown - a * (1.0 + grown) * (slope + (1.0 + a * slope) * sum);
}

/// Q divided by x^a e^-x / Gamma(a): 1 / (x + 1 - a - (1 - a) / (x + 3 - a - ...)), from numerators and denominators by
/// recurrence.
template <class V> WEFT_SIMD V continued_fraction(V a, V x, double precision) {
  constexpr uint64_t kExponent = uint64_t{0x7ff} << 52, kOneTwice = uint64_t{2046} << 52;
  precision = std::max(precision, 0x1p-51);  // below this, rounding keeps the values from converging
  V y = 1.0 - a, z = x + y + 1.0, p_before = splat<V>(1.0), q_before = x, p = x + 1.0, q = z * x, value = p / q;
  for (double k = 1; k < 400;) {
    for (int i = 0; i < 4; ++i, ++k) {
      y += 1.0, z += 2.0;
      const V factor = y * k, p_next = p * z - p_before * factor, q_next = q * z - q_before * factor;
      p_before = p, q_before = q, p = p_next, q = q_next;
    }
    const V last = value;
    value = p / q;
    if (!any_lane(absolute(value - last) > absolute(value) * precision)) break;
    const V scale = std::bit_cast<V>(kOneTwice - (std::bit_cast<Bits<V>>(q) & kExponent));  // a power of 2: exact
    p_before *= scale, q_before *= scale, p *= scale, q *= scale;
  }
  return value;
}

/// P or Q of 0 < a, 0 < x, both finite, and which of them it is.
template <class V> WEFT_SIMD Share<V> incomplete_gamma(V a, V x, double precision) {
  const auto uniform = (a >= kLargeShape) & (absolute(x - a) <= a * 0.4);
  const V edge = simd::larger(a, splat<V>(1.1));
  auto own = ~uniform & (x <= 1.1);
  if (any_lane(own)) own &= a <= select(x <= 0.5, -0.4 / log(simd::smaller(splat<V>(0.5), x)), x * 1.1);
  const auto lower = ~uniform & ~own & (x <= edge), fraction = ~uniform & (x > edge);
  Share<V> share{V{}, uniform};
  if (any_lane(uniform)) {
    const V shape = select(uniform, a, splat<V>(kLargeShape));
    share = temme_share(shape, select(uniform, x, shape));
  }
  share.is_upper = (uniform & share.is_upper) | own | fraction;
  if (any_lane(own))
    share.value = select(own, upper_series(select(own, a, V{}), select(own, x, splat<V>(1.0)), precision), share.value);
  if (!any_lane(lower | fraction)) return share;
  const V term = gamma_term(a, x, a);
  if (any_lane(lower)) {
    const V sum = lower_series(a, select(lower, x, V{}), precision);
    share.value = select(lower, term * sum, share.value);
  }
  if (any_lane(fraction)) {
    const V far = simd::smaller(select(fraction, x, splat<V>(30.0)), splat<V>(1e10));  // the term is 0 there
    const V ratio = continued_fraction(select(fraction, a, splat<V>(1.0)), far, precision);
    share.value = select(fraction, select(term == 0.0, V{}, term * a * ratio), share.value);
  }
  return share;
}

/// P or Q, with their values at the ends: P(a, 0) = 0, P(0, x) = 1, P(inf, x) = 0, P(a, inf) = 1.
template <bool upper, class V> WEFT_SIMD V incomplete_gamma_of_all(V a, V x, double precision) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const auto inside = (a > 0.0) & (x > 0.0) & (a < kInf) & (x < kInf);
  const V one = splat<V>(1.0);
  V value{};
  if (any_lane(inside)) {
    const Share<V> share = incomplete_gamma(select(inside, a, one), select(inside, x, one), precision);
    const auto same = upper ? share.is_upper : ~share.is_upper;
    value = select(same, share.value, 1.0 - share.value);
  }
  const auto all = (a == 0.0) | (x == kInf);  // P is 1
  const V end = select(all, splat<V>(upper ? 0.0 : 1.0), splat<V>(upper ? 1.0 : 0.0));
  const auto outside = ~((a >= 0.0) & (x >= 0.0)) | ((a == 0.0) & (x == 0.0)) | ((a == kInf) & (x == kInf));
  return select(outside, splat<V>(kNan), select(inside, value, end));
}
}  // namespace detail

template <bool upper> WEFT_SIMD Doubles incomplete_gamma(Doubles a, Doubles x, double precision) {
  return detail::incomplete_gamma_of_all<upper>(a, x, precision);
}

/// x^(a - 1) e^-x / Gamma(a), the derivative of P by x: the density of the gamma distribution of shape a.
WEFT_SIMD Doubles gamma_density(Doubles a, Doubles x) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const auto inside = (a > 0.0) & (x > 0.0) & (a < kInf) & (x < kInf);
  const Doubles one = splat<Doubles>(1.0), shape = select(inside, a, one), at = select(inside, x, one);
  // x^(a - 1) itself, as x^a can be below the range where it is not; but a - 1 is exact from 1 on only.
  const auto divided = (shape < 1.0) | (shape >= detail::kLargeShape);
  const Doubles term = detail::gamma_term(shape, at, select(divided, shape, shape - 1.0));
  const Doubles value = term * shape / select(divided, at, one);
  const Doubles origin = select(a == 1.0, one, select(a < 1.0, splat<Doubles>(kInf), Doubles{}));
  const auto peak = (x == 0.0) & (a > 0.0);
  const Doubles end = select(peak, origin, Doubles{});
  return select(~((a >= 0.0) & (x >= 0.0)), splat<Doubles>(kNan), select(inside, value, end));
}

}  // namespace weft::kernels::cpu::vmath
