// Special functions that the C library does not have, or not for threads. All are computed in double; those of floats,
// erfinv and polygamma by registers.
#include "tensor/ops/special.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/vector_bessel.h"
#include "tensor/kernels/cpu/base/vector_normal.h"
#include "tensor/kernels/cpu/base/vector_special.h"
#include "tensor/kernels/cpu/pointwise/unary_loops.h"

namespace weft::kernels::cpu {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// erfinv(y) for |y| >= 0.999: M. Giles, "Approximating the erfinv function", 2011, and Newton's steps on the
/// logarithms of the complements, which have the digits and are almost straight.
double erfinv_near_one(double y) {
  const double t = std::fabs(y);
  if (!(t < 1)) return t == 1 ? std::copysign(kInfinity, y) : kNan;
  const double w = std::sqrt(-std::log((1 - t) * (1 + t))) - 3;
  double x = 0;
  for (double c : {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
                   0.00943887047, 1.00167406, 2.83297682})
    x = x * w + c;
  for (int step = 0; step < 5; ++step) {
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-x * x), tail = std::erfc(x);
    x += std::log(tail / (1 - t)) * tail / slope;
  }
  return std::copysign(x, y);
}

/// Doubles: y times a Chebyshev fit in w = -log(1 - y^2) on [0, 6.25], with a relative error of 8e-18.
struct ErfinvOf {
  vmath::Doubles operator()(vmath::Doubles y) const {
    constexpr double kFit[] = {
        -2.7032254091069344e-10, 7.689312733742569e-10,   1.5401738716654886e-09, -8.562787796742932e-09,
        4.792369996100387e-09,   3.915473114023045e-08,   -9.867713140174249e-08, -1.0185147576818285e-08,
        5.394320648707009e-07,   -1.059321402540731e-06,  -6.83718721812117e-07,  7.1300572630824496e-06,
        -1.1257319182677936e-05, -1.5027710420277575e-05, 9.33673917780479e-05,   -0.0001168888399309713,
        -0.0002643936684366174,  0.0012324855686812834,   -0.0012716922684373015, -0.00413731437741443,
        0.017808361818295655,    -0.022604447453449802,   -0.05892256710377784,   0.7504943200799635,
        1.6536545626831027};
    const vmath::Doubles t = vmath::absolute(y), w = -vmath::log((1.0 - t) * (1.0 + t));
    vmath::Doubles out = y * vmath::detail::polynomial(w * 0.32 - 1.0, kFit);
    for (int i = 0; i < simd::kLanes<double>; ++i)
      if (!(w[i] <= 6.25)) out[i] = erfinv_near_one(y[i]);
    return out;
  }
  template <class V> V operator()(V y) const { return vmath::erfinv(y); }
};

/// Asymptotic series after shifting x upwards, reflection below 0: M. Abramowitz and I. Stegun, 6.3.18, 6.3.5, 6.3.7.
double digamma_of(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0) {
    const double whole = std::trunc(x), part = x - whole;
    if (part == 0) return kNan;
    return digamma_of(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * part);
  }
  double sum = 0;
  while (x < 10) sum -= 1 / x, x += 1;
  if (x > 1e17) return std::log(x);
  const double z = 1 / (x * x);
  double p = 0;
  for (double c : {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12}) p = p * z + c;
  return sum + std::log(x) - 0.5 / x - p * z;
}

/// e^-|x| times the modified Bessel function of the first kind: a series of positive terms, for large x the asymptotic
/// one. M. Abramowitz and I. Stegun, 9.6.10 and 9.7.1.
template <int order> double scaled_bessel_i(double x) {
  static_assert(order == 0 || order == 1);
  const double size = std::fabs(x), sign = order == 1 && x < 0 ? -1 : 1;
  double term = 1, sum = 1;
  if (size <= 30) {
    for (double k = 1; term > 1e-17 * sum; ++k) sum += term *= size * size / (4 * k * (k + order));
    return (order == 0 ? 1 : x / 2) * sum * std::exp(-size);
  }
  for (double k = 1; std::fabs(term) > 1e-17; ++k) {
    const double odd = 2 * k - 1;
    sum += term *= (odd * odd - 4 * order) / (8 * size * k);
  }
  return sign * sum / (std::sqrt(2 * std::numbers::pi) * std::sqrt(size));
}

/// e^x in two halves, because it overflows before the product.
template <int order> double bessel_i(double x) {
  if (std::isinf(x)) return order == 1 ? x : std::fabs(x);
  const double half = std::exp(std::fabs(x) / 2);
  return half * scaled_bessel_i<order>(x) * half;
}

/// of_double where doubles come one by one, of_register for floats.
template <class F, class G> struct SpecialOf {
  F of_double;
  G of_register;
  vmath::Doubles operator()(vmath::Doubles x) const { return vmath::by_lane(of_double, x); }
  template <class V> V operator()(V x) const { return of_register(x); }
};
template <class F, class G>
void special(const F& of_double, const G& of_register, const Operand& x, const Operand& out) {
  floating(kMathGrain, on_registers(SpecialOf<F, G>{of_double, of_register}), x, out);
}

/// f(registers of doubles), also for floats.
template <class F> struct InDoubles {
  F f;
  vmath::Doubles operator()(vmath::Doubles x) const { return f(x); }
  template <class V> V operator()(V x) const { return vmath::detail::in_doubles(f, x); }
};
template <class F> auto in_doubles(F f) { return on_registers(InDoubles<F>{f}); }

struct EntropyOf {
  template <class V> V operator()(V x) const {
    const V below = vmath::splat<V>(-std::numeric_limits<vmath::Lane<V>>::infinity());
    return vmath::select(x > V{}, -x * vmath::log(x), vmath::select(x < V{}, below, x * x));
  }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// function(registers of doubles), also for floats.
#define WEFT_IN_DOUBLES_KERNEL(Op, function) \
  WEFT_UNARY_KERNEL(Op, floating(kMathGrain, in_doubles([](auto v) { return function(v); }), x, out))
#define WEFT_SPECIAL_KERNEL(Op, of_double, of_register) \
  WEFT_UNARY_KERNEL(Op, special([](double v) { return of_double(v); }, [](auto v) { return of_register(v); }, x, out))

WEFT_UNARY_KERNEL(Erfinv, floating(kMathGrain, on_registers(ErfinvOf{}), x, out))
WEFT_SPECIAL_KERNEL(Lgamma, log_gamma, vmath::lgamma)
WEFT_SPECIAL_KERNEL(Digamma, digamma_of, vmath::digamma)
WEFT_SPECIAL_KERNEL(I0, bessel_i<0>, (vmath::bessel_i<0, false>))
WEFT_SPECIAL_KERNEL(I1, bessel_i<1>, (vmath::bessel_i<1, false>))
WEFT_SPECIAL_KERNEL(I0e, scaled_bessel_i<0>, (vmath::bessel_i<0, true>))
WEFT_SPECIAL_KERNEL(I1e, scaled_bessel_i<1>, (vmath::bessel_i<1, true>))
WEFT_IN_DOUBLES_KERNEL(BesselJ0, vmath::bessel_j<0>)
WEFT_IN_DOUBLES_KERNEL(BesselJ1, vmath::bessel_j<1>)
WEFT_IN_DOUBLES_KERNEL(BesselY0, vmath::bessel_y<0>)
WEFT_IN_DOUBLES_KERNEL(BesselY1, vmath::bessel_y<1>)
WEFT_IN_DOUBLES_KERNEL(ModifiedBesselK0, vmath::bessel_k<0>)
WEFT_IN_DOUBLES_KERNEL(ModifiedBesselK1, vmath::bessel_k<1>)
WEFT_UNARY_KERNEL(Ndtr, floating(kMathGrain, on_registers([](auto v) { return vmath::ndtr(v); }), x, out))
WEFT_IN_DOUBLES_KERNEL(LogNdtr, vmath::log_ndtr)
WEFT_IN_DOUBLES_KERNEL(LogNdtrSlope, vmath::log_ndtr_slope)
WEFT_IN_DOUBLES_KERNEL(Ndtri, vmath::ndtri)
WEFT_IN_DOUBLES_KERNEL(Erfcx, vmath::erfcx)
WEFT_UNARY_KERNEL(Entr, floating(kMathGrain, on_registers(EntropyOf{}), x, out))
WEFT_UNARY_KERNEL(Frac, floating(
                            kCheapGrain, [](auto v) { return v - std::trunc(v); }, x, out))

void op::Polygamma::cpu(const Operand& x, const Operand& out) const {
  floating(kMathGrain, on_registers(vmath::Polygamma(order)), x, out);
}

}  // namespace weft
