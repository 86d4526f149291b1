// Special functions of registers of doubles (those of floats are the same, rounded) against long double over their
// ranges: errors in units of the last place, of Bessel functions with zeros in parts of their amplitude.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/kernels/cpu/base/vector_bessel.h"
#include "tensor/kernels/cpu/base/vector_igamma.h"
#include "tensor/kernels/cpu/base/vector_zeta.h"
#include "tests/reference/special.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft::testing {
namespace {

namespace simd = kernels::cpu::simd;
namespace vmath = kernels::cpu::vmath;
using vmath::Doubles;

/// Numbers in [low, high], every other one evenly spread over the logarithms where low > 0.
std::vector<double> spread(double low, double high, int count = 4000, uint64_t bits = 1) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    const double share = static_cast<double>(bits >> 11) * 0x1p-53;
    all.push_back(low > 0 && i % 2 == 0 ? low * std::pow(high / low, share) : low + (high - low) * share);
  }
  return all;
}

double last_place(long double want) {
  const double size = std::max(std::fabs(static_cast<double>(want)), std::numeric_limits<double>::min());
  return std::nextafter(size, HUGE_VAL) - size;
}

/// The largest |f(x) - want(x)| / unit(x, want(x)); lanes that are not finite must be the same.
template <class F, class G, class Unit>
void sweep(const char* name, const std::vector<double>& x, F f, G want, Unit unit, double allowed) {
  double worst = 0, where = 0;
  for (size_t i = 0; i + simd::kLanes<double> <= x.size(); i += simd::kLanes<double>) {
    const Doubles y = f(simd::load<double>(&x[i]));
    for (int lane = 0; lane < simd::kLanes<double>; ++lane) {
      const double at = x[i + static_cast<size_t>(lane)];
      const long double exact = want(static_cast<long double>(at));
      const double error = std::fabs(static_cast<double>(y[lane] - exact)) / unit(at, exact);
      if (!(error <= worst)) worst = error, where = at;
      EXPECT_TRUE(i % 64 != 0 || f(vmath::splat<Doubles>(at))[0] == y[lane]) << name << " of one lane at " << at;
    }
  }
  EXPECT_LE(worst, allowed) << name << " at " << where;
}
template <class F, class G> void in_ulps(const char* name, const std::vector<double>& x, F f, G want, double allowed) {
  sweep(
      name, x, f, want, [](double, long double exact) { return last_place(exact); }, allowed);
}
/// In parts of sqrt(2 / (pi x)), of 1 below 1.
template <class F, class G> void by_amplitude(const char* name, double low, double high, F f, G want) {
  sweep(
      name, spread(low, high), f, want, [](double x, long double) { return 0.8 / std::sqrt(std::max(x, 1.0)); }, 2e-15);
}

TEST(SpecialRange, BesselFunctions) {
  by_amplitude(
      "j0", 1e-5, 1e5, [](Doubles x) { return vmath::bessel_j<0>(x); }, [](long double x) { return ::j0l(x); });
  by_amplitude(
      "j1", 1e-5, 1e5, [](Doubles x) { return vmath::bessel_j<1>(x); }, [](long double x) { return ::j1l(x); });
  by_amplitude(
      "y0", 0.3, 1e5, [](Doubles x) { return vmath::bessel_y<0>(x); }, [](long double x) { return ::y0l(x); });
  by_amplitude(
      "y1", 1, 1e5, [](Doubles x) { return vmath::bessel_y<1>(x); }, [](long double x) { return ::y1l(x); });
  const std::vector<double> before_zeros = spread(1e-5, 2.3);
  in_ulps(
      "small j0", before_zeros, [](Doubles x) { return vmath::bessel_j<0>(x); }, [](long double x) { return ::j0l(x); },
      7);
  in_ulps(
      "small j1", before_zeros, [](Doubles x) { return vmath::bessel_j<1>(x); }, [](long double x) { return ::j1l(x); },
      7);
  in_ulps(
      "small y1", spread(1e-300, 1), [](Doubles x) { return vmath::bessel_y<1>(x); },
      [](long double x) { return ::y1l(x); }, 4);
}

TEST(SpecialRange, ModifiedBesselFunctions) {
  const std::vector<double> x = spread(1e-4, 300, 200);
  in_ulps(
      "k0", x, [](Doubles v) { return vmath::bessel_k<0>(v); }, [](long double v) { return reference::bessel_k(0, v); },
      8);
  in_ulps(
      "k1", x, [](Doubles v) { return vmath::bessel_k<1>(v); }, [](long double v) { return reference::bessel_k(1, v); },
      8);
}

TEST(SpecialRange, NormalDistribution) {
  const long double root = std::sqrt(2.0L);
  in_ulps(
      "ndtr", spread(-37, 8), [](Doubles x) { return vmath::ndtr(x); },
      [root](long double x) { return std::erfc(-x / root) / 2; }, 6);
  in_ulps(
      "log_ndtr", spread(-37, 37), [](Doubles x) { return vmath::log_ndtr(x); },
      [root](long double x) {
        const long double tail = std::erfc(std::fabs(x) / root) / 2;
        return x < 0 ? std::log(tail) : std::log1p(-tail);
      },
      8);
  in_ulps(
      "erfcx", spread(-26, 100), [](Doubles x) { return vmath::erfcx(x); },
      [](long double x) { return std::exp(x * x) * std::erfc(x); }, 6);
  in_ulps(  // from -60: below, x^2 / 2 is too large for the reference's e^(-x^2 / 2)
      "the slope of log_ndtr", spread(-60, 37), [](Doubles x) { return vmath::log_ndtr_slope(x); },
      [root](long double x) { return std::exp(-x * x / 2) * 0.797884560802865355879892L / std::erfc(-x / root); }, 7);
  for (const double p : spread(1e-300, 0.9)) {  // the share of the result, in units of what its last place is worth
    const double x = vmath::ndtri(vmath::splat<Doubles>(p))[0];
    const long double slope = std::exp(-static_cast<long double>(x) * x / 2) * 0.398942280401432677939946L;
    EXPECT_LE(std::fabs(std::erfc(-x / root) / 2 - p), 6 * last_place(x) * slope + last_place(p)) << p;
  }
}

TEST(SpecialRange, IncompleteGammaFunctions) {
  const auto shapes = spread(1e-3, 300, 1200), ratios = spread(0.05, 4, 1200, 2);
  for (size_t i = 0; i < shapes.size(); ++i) {
    const double a = shapes[i], x = a * ratios[i];
    const auto [lower, upper] = reference::incomplete_gamma(a, x);
    const Doubles shape = vmath::splat<Doubles>(a), at = vmath::splat<Doubles>(x);
    const auto check = [&](double got, long double want) {
      if (want < 1e-3L * (1 - want)) return;  // the reference's is the difference of the other
      EXPECT_NEAR(got / static_cast<double>(want), 1, 2e-14) << a << " " << x;
    };
    check(vmath::incomplete_gamma<false>(shape, at, 0x1p-56)[0], lower);
    check(vmath::incomplete_gamma<true>(shape, at, 0x1p-56)[0], upper);
  }
}

TEST(SpecialRange, Zeta) {
  const auto orders = spread(1.001, 60, 1200), starts = spread(0.01, 300, 1200, 2);
  for (size_t i = 0; i < orders.size(); ++i) {  // q + k is rounded: its power x has x times that
    const double x = orders[i], q = starts[i];
    const Doubles got = vmath::zeta(vmath::splat<Doubles>(x), vmath::splat<Doubles>(q));
    const long double want = reference::zeta(x, q);
    EXPECT_LE(std::fabs(static_cast<double>(got[0] - want)), (8 + x / 2) * last_place(want)) << x << " " << q;
  }
}

/// Below 0 in q, by mpmath 1.3: close to 0, and at halves of odd orders, where the terms on both sides of 0 cancel.
TEST(SpecialRange, ZetaBelowZero) {
  const double cases[][3] = {
      {2, -1e-18, 9.9999999999999986e+35}, {11, -0.015, -1.1561019943888414e+20}, {3, -1e-09, -9.9999999999999981e+26},
      {7, -20.5, 1.9355943577134324e-9},   {3, -1000.5, 4.9900137350132198e-7},   {4, -2.25, 259.74250386478572},
  };
  for (const auto& [x, q, want] : cases)
    EXPECT_NEAR(vmath::zeta(vmath::splat<Doubles>(x), vmath::splat<Doubles>(q))[0] / want, 1, 2e-15) << x << " " << q;
}

TEST(SpecialRange, ExactOrTinyValues) {
  EXPECT_EQ(vmath::bessel_j<0>(Doubles{})[0], 1);
  EXPECT_EQ(vmath::erfcx(Doubles{})[0], 1);
  const Doubles tiny = vmath::splat<Doubles>(1e-200);  // whose square is 0
  EXPECT_NEAR(vmath::gamma_density(vmath::splat<Doubles>(2.0), tiny)[0] / 1e-200, 1, 1e-15);
  EXPECT_NEAR(vmath::gamma_density(vmath::splat<Doubles>(0.5), tiny)[0] / 5.6418958354775629e99, 1, 1e-15);
}

}  // namespace
}  // namespace weft::testing
