// Bessel functions of registers of doubles: those of floats are computed in double as well. Of the first and second
// kind, within 2e-15 of the amplitude sqrt(2 / (pi x)), J below 5 within 7 ulp; the modified ones within 8 ulp
// (tests/tensor/kernels/special_range_test.cc measures them).
#pragma once

#include <limits>
#include <numbers>

#include "tensor/kernels/cpu/base/vector_functions.h"

namespace weft::kernels::cpu::vmath {

namespace detail {
/// Chebyshev fits of what is left of J and Y of order n once zeros and logarithms are taken out. For x below 5 they are
/// polynomials in x^2: J is x^n (x^2 - a^2) (x^2 - b^2) times the first, where a and b are its first zeros, and
/// Y - 2 / pi (log(x) J - n / x) is x^n times the second. From 5 on they are polynomials in (5 / x)^2: P and x / 5 Q of
/// M. Abramowitz and I. Stegun, 9.2.5 and 9.2.6.
template <int order> struct BesselFits;
template <> struct BesselFits<0> {
  static constexpr double kZero = 2.404825557695773, kZeroLow = -1.176691651530894e-16, kNext = 5.520078110286311,
                          kNextLow = 8.088597146146722e-17;
  static constexpr double kJ[] = {5.715212521281862e-18,  -3.52449113008727e-16, 1.867152710741504e-14,
                                  -8.404184719394778e-13, 3.163725918080498e-11, -9.781438946726354e-10,
                                  2.4286220370252607e-08, -4.70629166457061e-07, 6.854954847201717e-06,
                                  -7.121705240575853e-05, 0.0004876827177655839, -0.0019210870437164043,
                                  0.0031873556303932378};
  static constexpr double kY[] = {-1.9305329340667354e-15, 1.166603953074689e-13,  -6.0431800819704165e-12,
                                  2.6539975248625817e-10,  -9.720964498735147e-09, 2.9142206889637085e-07,
                                  -6.9855043677424995e-06, 0.0001299462909208217,  -0.0018028096665526022,
                                  0.01763534538933876,     -0.11151682184328618,   0.38851639956570944,
                                  -0.4705763655297288,     -0.4326558222855125,    0.4837248578102995};
  static constexpr double kP[] = {6.510623531557605e-13,   -9.515579929513944e-13,  -1.8210973173070354e-12,
                                  2.2845093116070795e-12,  4.077958833405603e-12,   -5.624489390465371e-12,
                                  2.1931201402150453e-13,  -3.750025643928984e-12,  1.837381045145706e-11,
                                  -4.1813362704799626e-11, 1.0191508497211752e-10,  -2.8265466982174973e-10,
                                  8.544152887023166e-10,   -2.8711262583427698e-09, 1.1058682219000378e-08,
                                  -5.086425025341196e-08,  2.975900629430181e-07,   -2.4599633256229834e-06,
                                  3.491730581229512e-05,   -0.0013274931272003313,  0.9986347659091991};
  static constexpr double kQ[] = {
      8.730872151547241e-13,  -1.2064057495730164e-12, -2.87147963865115e-12,   3.5304134564697807e-12,
      5.9522078458908116e-12, -7.447334869559804e-12,  -3.2112951115616677e-12, 1.3969128881606417e-12,
      1.305175345948916e-11,  -2.4435105760910627e-11, 4.6809467225664235e-11,  -1.1614153083518033e-10,
      3.0565687262323795e-10, -8.591344081257801e-10,  2.659314623960067e-09,   -9.279560445660088e-09,
      3.7740595602071145e-08, -1.881975065260756e-07,  1.247822633931138e-06,   -1.2677430885018454e-05,
      0.00026284279458204957, -0.02472299270522373};
};
template <> struct BesselFits<1> {
  static constexpr double kZero = 3.8317059702075125, kZeroLow = -1.5269184090088067e-16, kNext = 7.015586669815619,
                          kNextLow = -9.414165653410389e-17;
  static constexpr double kJ[] = {-1.2377862900889621e-17, 7.050885612374614e-16,   -3.425082917113122e-14,
                                  1.4012939606655873e-12,  -4.742877795752643e-11,  1.3002918729585578e-09,
                                  -2.8111472529722005e-08, 4.625979215164964e-07,   -5.515494459601969e-06,
                                  4.42186880710148e-05,    -0.00020932672214860176, 0.0004323698734106474};
  static constexpr double kY[] = {4.277907601247645e-15,   -2.397782341669183e-13,  1.1448943838049981e-11,
                                  -4.6013010745475043e-10, 1.528890182573714e-08,   -4.1137780795312436e-07,
                                  8.733098304848775e-06,   -0.00014141835794484212, 0.0016688031328635942,
                                  -0.013433433740818165,   0.06634695354779108,     -0.16312020358118715,
                                  0.09108650838448444,     0.13974939033568806};
  static constexpr double kP[] = {-6.863333451388997e-13,  1.004660039809737e-12,   1.9148548730827158e-12,
                                  -2.4036126609094836e-12, -4.304154903507294e-12,  5.95359653810815e-12,
                                  -2.99576359390998e-13,   4.1125471271174e-12,     -1.9781279965851924e-11,
                                  4.52372729064301e-11,    -1.1089276146038646e-10, 3.0910802251980933e-10,
                                  -9.402939817177409e-10,  3.1855729167256642e-09,  -1.2403104628317827e-08,
                                  5.791660152738369e-08,   -3.4667187378144574e-07, 2.9786211095131944e-06,
                                  -4.5782806531003885e-05, 0.0022414632139171184,   1.0022906462560661};
  static constexpr double kQ[] = {1.2698783811079175e-12, -1.8049299445088647e-12, -3.7081632893687255e-12,
                                  4.5840507745854614e-12, 7.844679474520313e-12,   -1.0323185486171135e-11,
                                  -1.378410094726293e-12, -3.3838170931283897e-12, 2.620922861692747e-11,
                                  -5.572598135520225e-11, 1.2593499308730486e-10,  -3.3126415985057915e-10,
                                  9.408283653740854e-10,  -2.933134231784973e-09,  1.0328284559603885e-08,
                                  -4.253345269043007e-08, 2.1597707884178486e-07,  -1.4739855909090525e-06,
                                  1.5796188355886477e-05, -0.0003729699243682442,  0.07460948663481604};
};

/// J of 0 <= x <= 5; right near its zeros too.
template <int order, class V> WEFT_SIMD V near_bessel_j(V x) {
  using Fits = BesselFits<order>;
  const V z = x * x, first = ((x - Fits::kZero) - Fits::kZeroLow) * (x + Fits::kZero);
  const V second = ((x - Fits::kNext) - Fits::kNextLow) * (x + Fits::kNext);
  const V value = first * second * long_polynomial(z * 0.08 - 1.0, Fits::kJ);
  return order == 0 ? value : value * x;
}
/// Y of 0 <= x <= 5: its value at 0 is -inf.
template <int order, class V> WEFT_SIMD V near_bessel_y(V x) {
  constexpr double kTwoByPi = 2 * std::numbers::inv_pi;
  const V fit = long_polynomial(x * x * 0.08 - 1.0, BesselFits<order>::kY), part = log(x) * near_bessel_j<order>(x);
  if constexpr (order == 0) return fit + part * kTwoByPi;
  return select(x == 0.0, splat<V>(-std::numeric_limits<double>::infinity()), fit * x + (part - 1.0 / x) * kTwoByPi);
}
/// J or Y of x >= 5. The sine and cosine of x less pi / 4 are sums of those of x, for which x is not rounded.
template <int order, bool second, class V> WEFT_SIMD V far_bessel(V x) {
  const V u = 5.0 / x, w = u * u;
  const V p = long_polynomial(w * 2.0 - 1.0, BesselFits<order>::kP);
  const V q = long_polynomial(w * 2.0 - 1.0, BesselFits<order>::kQ) * u;
  const V sine = sin(x), cosine = cos(x), sum = sine + cosine, difference = sine - cosine;
  V wave{};
  if constexpr (order == 0)
    wave = second ? p * difference + q * sum : p * sum - q * difference;
  else
    wave = second ? q * difference - p * sum : p * difference + q * sum;
  const V root = square_root(x) * 1.7724538509055159;  // of pi x
  return select(x == std::numeric_limits<double>::infinity(), V{}, wave / root);
}
/// The values of `near` in the lanes where x <= 5, of `far` in the others. Each is computed only if a lane needs it.
template <class V> WEFT_SIMD V at_five(V x, auto near, auto far) {
  const auto large = x > 5.0;
  if (!any_lane(large)) return near(x);
  const V value = far(select(large, x, splat<V>(5.0)));
  return any_lane(x <= 5.0) ? select(large, value, near(x)) : select(large, value, x);
}
}  // namespace detail

/// The Bessel function of the first kind, of order 0 or 1.
template <int order> WEFT_SIMD Doubles bessel_j(Doubles x) {
  const Doubles value = detail::at_five(
      absolute(x), [](auto v) { return detail::near_bessel_j<order>(v); },
      [](auto v) { return detail::far_bessel<order, false>(v); });
  return order == 1 ? std::bit_cast<Doubles>(std::bit_cast<Bits<Doubles>>(value) ^
                                             (std::bit_cast<Bits<Doubles>>(x) & (uint64_t{1} << 63)))
                    : value;
}
/// The Bessel function of the second kind, of order 0 or 1: -inf at 0, NaN below.
template <int order> WEFT_SIMD Doubles bessel_y(Doubles x) {
  const Doubles value = detail::at_five(
      absolute(x), [](auto v) { return detail::near_bessel_y<order>(v); },
      [](auto v) { return detail::far_bessel<order, true>(v); });
  return select(x < 0.0, splat<Doubles>(std::numeric_limits<double>::quiet_NaN()), value);
}

namespace detail {
/// Chebyshev fits of I and K of order n. For x up to 2 they are polynomials in x^2: I is x^n times the first, K is
/// (-1)^(n + 1) log(x / 2) I plus x^-n times the second. From 2 on, K is e^-x / sqrt(x) times the third, a
/// polynomial in 4 / x - 1.
template <int order> struct ModifiedFits;
template <> struct ModifiedFits<0> {
  static constexpr double kI[] = {1.5591722255510926e-14, 2.5398791970311194e-12, 3.27324784353647e-10,
                                  3.236227352376538e-08,  2.3575789878938216e-06, 0.0001198206858163441,
                                  0.0039285651056368085,  0.07358986836105334,    0.6358617281560686,
                                  1.5660829297563506};
  static constexpr double kK[] = {1.8282990225962873e-16, 3.518631515854722e-14, 5.452107588016936e-12,
                                  6.623013272794453e-10,  6.093361934166155e-08, 4.054506619949891e-06,
                                  0.00018280555827901256, 0.005053392643196092,  0.07177701034240512,
                                  0.3404973210133806,     -0.30362077291575545};
  static constexpr double kFar[] = {
      -2.907778759714522e-11,  4.4463261136368365e-11, 1.126316337254519e-10,   -1.5750973144552285e-10,
      -2.7839866456683264e-10, 3.883027499295913e-10,  2.4099061000287124e-10,  -2.426111314423373e-10,
      -6.304229346998433e-10,  1.0573777917720047e-09, -1.3806246402870368e-09, 3.170629957994259e-09,
      -7.539817679119423e-09,  1.731622598181986e-08,  -4.126078580596855e-08,  1.0287980689458582e-07,
      -2.6892248671184386e-07, 7.427932208028755e-07,  -2.1911758052676744e-06, 7.002244287487694e-06,
      -2.473520470025926e-05,  9.956054749305854e-05,  -0.00047976905676172516, 0.003032891810273794,
      -0.03107146182488956,    1.2185953385133905};
};
template <> struct ModifiedFits<1> {
  static constexpr double kI[] = {7.760645432558989e-16, 1.4032637886429537e-13, 2.0317481447162443e-11,
                                  2.291273488938041e-09, 1.9417364216117698e-07, 1.1787894939469932e-05,
                                  0.0004792827432651339, 0.011785695316910426,   0.1471797367221067,
                                  0.6358617281560686};
  static constexpr double kK[] = {-3.5962181014457795e-15, -6.214271617329577e-13, -8.53273511404978e-11,
                                  -9.032127501740678e-09,  -7.081133770184678e-07, -3.891869064371633e-05,
                                  -0.0013831688466153064,  -0.02785423521977184,   -0.24383852886774365,
                                  -0.3322409552403131,     0.8850882877295894};
  static constexpr double kFar[] = {
      3.150534991423443e-11,  -4.829107281627596e-11,  -1.216604821004258e-10,  1.704297529665342e-10,
      3.015605420609579e-10,  -4.2190635517826636e-10, -2.5722618233906385e-10, 2.560533082941635e-10,
      6.970364983934073e-10,  -1.180097808498307e-09,  1.5795148419022103e-09,  -3.639264909950171e-09,
      8.683982534096674e-09,  -2.0109398585523846e-08, 4.837695851929297e-08,   -1.2195093824501613e-07,
      3.229983779937386e-07,  -9.067229884830243e-07,  2.7300392852920254e-06,  -8.961205912549711e-06,
      3.2843865708633974e-05, -0.00013959021964175084, 0.0007357241549032677,   -0.005566729880072931,
      0.10334973775386527,    1.363151890371342};
};

template <int order, class V> WEFT_SIMD V near_bessel_k(V x) {
  const V s = x * x * 0.5 - 1.0, i = long_polynomial(s, ModifiedFits<order>::kI),
          k = long_polynomial(s, ModifiedFits<order>::kK);
  const auto small = x < 1.0;  // half of a subnormal number is rounded
  const V half_log = log(select(small, x, x * 0.5)) - select(small, splat<V>(std::numbers::ln2), V{});
  return order == 0 ? k - half_log * i : k / x + half_log * (i * x);
}
template <int order, class V> WEFT_SIMD V far_bessel_k(V x) {
  return exp(-x) * long_polynomial(4.0 / x - 1.0, ModifiedFits<order>::kFar) / square_root(x);
}
}  // namespace detail

/// The modified Bessel function of the second kind, of order 0 or 1: inf at 0, NaN below.
template <int order> WEFT_SIMD Doubles bessel_k(Doubles x) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const auto large = x > 2.0;
  Doubles value{};
  if (any_lane(large)) value = detail::far_bessel_k<order>(select(large, x, splat<Doubles>(2.0)));
  if (any_lane(x <= 2.0)) value = select(large, value, detail::near_bessel_k<order>(x));
  return select(x > 0.0, value, select(x == 0.0, splat<Doubles>(kInf), select(x < 0.0, splat<Doubles>(kNan), x)));
}

}  // namespace weft::kernels::cpu::vmath
