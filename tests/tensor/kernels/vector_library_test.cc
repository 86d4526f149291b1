// The functions of registers of doubles against those of long double: within 4 ulp, as the C library promises (the
// exponential 2, polygamma 1e-12), the same in each lane, and what IEEE-754 wants of special values.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/kernels/cpu/base/vector_special.h"
#include "tensor/ops/special.h"
#include "tests/reference/special.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft::testing {
namespace {

namespace simd = kernels::cpu::simd;
namespace vmath = kernels::cpu::vmath;
using vmath::Doubles;

constexpr double kInf = std::numeric_limits<double>::infinity();

double ulps(double got, long double want) {
  const double nearest = static_cast<double>(want), size = std::fabs(nearest);
  if (std::isnan(nearest)) return std::isnan(got) ? 0 : 1e30;
  if (std::isinf(nearest) || nearest == 0)
    return got == nearest && std::signbit(got) == std::signbit(nearest) ? 0 : 1e30;
  return static_cast<double>(std::fabs(got - want)) / (std::nextafter(size, kInf) - size);
}

/// Numbers of every size and both signs, many of them of usual sizes, and those where functions have their corners.
std::vector<double> arguments() {
  std::vector<double> all{0.0,     -0.0,   kInf,    -kInf,    std::nan(""), 1.0,    -1.0,   5e-324,
                          -5e-324, 1e-310, 1.7e308, -1.7e308, 709.9,        -745.2, -800.0, 1e22,
                          -1e22,   1024.0, -1074.0, -1075.5,  0.5,          -0.5,   26.5,   27.3};
  uint64_t bits = 1;
  for (int i = 0; i < property_cases(40000); ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    const double share = static_cast<double>(bits >> 11) * 0x1p-53;
    all.push_back((share - 0.5) * 2.1);
    all.push_back((share - 0.5) * 60);
    all.push_back((i % 2 == 0 ? 1 : -1) * std::exp2(share * 200 - 100));
  }
  while (all.size() % simd::kLanes<double> != 0) all.push_back(1);
  return all;
}

template <class F, class G> void sweep(const char* name, F f, G want, double allowed = 4) {
  const auto x = arguments();
  double worst = 0, where = 0;
  for (size_t i = 0; i < x.size(); i += simd::kLanes<double>) {
    const Doubles y = f(simd::load<double>(&x[i]));
    for (int lane = 0; lane < simd::kLanes<double>; ++lane) {
      const double at = x[i + static_cast<size_t>(lane)], error = ulps(y[lane], want(static_cast<long double>(at)));
      if (error > worst) worst = error, where = at;
      EXPECT_TRUE(i % 64 != 0 || ulps(f(vmath::splat<Doubles>(at))[0], static_cast<long double>(y[lane])) == 0) << at;
    }
  }
  EXPECT_LE(worst, allowed) << name << " at " << where;
}

#define WEFT_SWEEP(function) \
  sweep(                     \
      #function, [](Doubles x) { return vmath::function(x); }, [](long double x) { return std::function(x); })

TEST(VectorLibrary, ExponentialsAndLogarithms) {
  WEFT_SWEEP(exp2);
  WEFT_SWEEP(expm1);
  WEFT_SWEEP(log);
  WEFT_SWEEP(log1p);
  WEFT_SWEEP(log2);
  WEFT_SWEEP(log10);
}

TEST(VectorLibrary, TrigonometricAndHyperbolic) {
  WEFT_SWEEP(sin);
  WEFT_SWEEP(cos);
  WEFT_SWEEP(tan);
  WEFT_SWEEP(asin);
  WEFT_SWEEP(acos);
  WEFT_SWEEP(atan);
  WEFT_SWEEP(sinh);
  WEFT_SWEEP(cosh);
  WEFT_SWEEP(tanh);
  WEFT_SWEEP(asinh);
  WEFT_SWEEP(acosh);
  WEFT_SWEEP(atanh);
}

TEST(VectorLibrary, ErrorFunctions) {
  WEFT_SWEEP(erf);
  WEFT_SWEEP(erfc);
}

TEST(VectorLibrary, FunctionsOfTwo) {
  const double special[] = {0.0, -0.0, kInf, -kInf, std::nan(""), 1, -1, 5e-324, 1.7e308, 2, -2, 3, 0.5, -7.5, 1e22};
  const auto at = [](auto f, double a, double b) { return f(vmath::splat<Doubles>(a), vmath::splat<Doubles>(b))[0]; };
  const auto power = [](Doubles a, Doubles b) { return vmath::pow(a, b); };
  const auto angle = [](Doubles a, Doubles b) { return vmath::atan2(a, b); };
  for (double a : special)
    for (double b : special) {
      EXPECT_LE(ulps(at(power, a, b), std::pow(a, b)), 1) << a << ' ' << b;
      EXPECT_LE(ulps(at(angle, a, b), std::atan2(a, b)), 4) << a << ' ' << b;
    }
  const auto x = arguments();
  for (size_t i = 1; i < x.size(); ++i) {
    EXPECT_LE(ulps(at(angle, x[i], x[i - 1]), std::atan2(static_cast<long double>(x[i]), x[i - 1])), 4) << x[i];
    const double base = std::fabs(x[i - 1]), exponent = std::fmod(x[i], 10);
    EXPECT_LE(ulps(at(power, base, exponent), std::pow(static_cast<long double>(base), exponent)), 4) << x[i];
    if (HasFailure()) return;
  }
  for (int a = 1; a < 40; ++a)  // whole powers are exact
    for (int b = 0; std::pow(a, b) < 9e15 && b < 20; ++b) EXPECT_EQ(at(power, a, b), std::pow(a, b)) << a << ' ' << b;
}

TEST(VectorLibrary, ExponentialAndWhatIsMadeOfIt) {
  const auto one = [](auto f, double x) { return f(vmath::splat<Doubles>(x))[0]; };
  const auto of_exp = [&](double x) { return one([](Doubles v) { return vmath::exp(v); }, x); };
  const auto of_sigmoid = [&](double x) { return one([](Doubles v) { return vmath::sigmoid(v); }, x); };
  const auto of_softplus = [&](double x) { return one([](Doubles v) { return vmath::softplus(v); }, x); };
  for (int i = 0; i < 3916; ++i) {
    const double x = -740 + 0.37 * i;
    // Within 2 units in the last place, also where results are subnormal and that unit is denorm_min.
    EXPECT_LE(ulps(of_exp(x), std::exp(static_cast<long double>(x))), 2) << x;
    if (x > -700) {
      EXPECT_NEAR(of_sigmoid(x) * (1 + std::exp(-x)), 1, 1e-15) << x;
      EXPECT_NEAR(of_softplus(x) / (x > 40 ? x : std::log1p(std::exp(x))), 1, 2e-15) << x;
    }
  }
  for (double x : {-1e9, 0.0, 1e9, -kInf, kInf}) EXPECT_EQ(of_exp(x), std::exp(x));
  for (double nan : {of_exp(std::nan("")), of_sigmoid(std::nan("")), of_softplus(std::nan(""))})
    EXPECT_TRUE(std::isnan(nan));
}

/// The op, whose error is what a step of Newton in long double would still change.
TEST(VectorLibrary, InverseOfTheErrorFunction) {
  std::vector<double> y;
  for (int i = -2000; i <= 2000; ++i) y.push_back(i / 2000.5);
  for (int i = 1; i <= 52; ++i) y.push_back(1 - std::exp2(-i)), y.push_back(std::exp2(-3 * i));
  std::vector<double> x(y.size());
  const View view = View::contiguous({static_cast<int64_t>(y.size())});
  op::Erfinv{}.cpu({y.data(), &view, f64}, {x.data(), &view, f64});
  for (size_t i = 0; i < y.size(); ++i) {
    const long double at = x[i], slope = 2 / std::sqrt(std::acos(-1.0L)) * std::exp(-at * at);
    const long double off = y[i] > 0.5 ? (1 - static_cast<long double>(y[i])) - std::erfc(at) : std::erf(at) - y[i];
    EXPECT_LE(ulps(x[i], at - off / slope), 4) << y[i];
  }
}

TEST(VectorLibrary, DerivativesOfDigamma) {
  const auto at = [](int n, double x) { return vmath::Polygamma(n)(vmath::splat<Doubles>(x))[0]; };
  for (int n : {1, 2, 3, 5, 9})
    for (int i = 0; i < 200; ++i) {
      const double x = 0.01 * std::pow(1.06, i);
      EXPECT_NEAR(at(n, x) / reference::polygamma(n, x), 1, 2e-14) << n << ' ' << x;
    }
  for (double x : {-0.3, -1.5, -1.999, -7.9, -30.02})
    for (int n : {1, 2, 3, 4, 7}) {
      const double want = reference::polygamma(n, x);
      EXPECT_NEAR(at(n, x), want, 1e-12 * std::max(std::fabs(want), 1.0)) << n << ' ' << x;
      const auto single = static_cast<float>(x);
      const double near = reference::polygamma(n, double{single});
      const float got = vmath::Polygamma(n)(vmath::splat<simd::Vec<float>>(single))[0];
      EXPECT_NEAR(static_cast<double>(got), near, 1e-7 * std::max(std::fabs(near), 1.0)) << n << ' ' << single;
    }
  EXPECT_EQ(at(1, kInf), 0);
  EXPECT_EQ(at(1, -2), kInf);
  EXPECT_EQ(at(2, -2), -kInf);
  EXPECT_EQ(at(5, -1e300), kInf);
  EXPECT_TRUE(std::isnan(at(1, std::nan(""))));
}

}  // namespace
}  // namespace weft::testing
