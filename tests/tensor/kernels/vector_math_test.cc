// The float functions against double over all of their range: at most 2 ulp (sigmoid and atan 2.5, tan 3), subnormal
// results included. What is generic runs on single floats, as in loops that vectorize, and on registers.
#include <gtest/gtest.h>

#include "tensor/kernels/cpu/base/normal_segments.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/base/vector_compensated.h"
#include "tensor/kernels/cpu/base/vector_special.h"
#include "tests/reference/special.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft::testing {
namespace {

namespace simd = kernels::cpu::simd;
namespace vmath = kernels::cpu::vmath;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int64_t kBatch = 4096;

// The distance of `got` from `want` in units of want's last place.
double ulps(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  const float nearest = static_cast<float>(want);
  if (std::isinf(nearest)) return got == nearest || std::fabs(got) > 3.4e38f ? 0 : 1e30;
  if (!std::isfinite(got)) return 1e30;
  int exponent = -1000;
  if (want != 0) std::frexp(want, &exponent);
  return std::fabs(got - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

template <class F> void one_by_one(const F& f, const float* x, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < kBatch; ++i) y[i] = f(x[i]);
}

template <class F> void by_registers(const F& f, const float* x, float* y) {
  for (int64_t i = 0; i < kBatch; i += simd::kLanes<float>) simd::store<float>(y + i, f(simd::load<float>(x + i)));
}

// Every 1021st float, so that a run takes a second. `run` is one of the two above.
template <class Run, class G> void sweep_with(const char* name, Run run, G want, double allowed, float limit = kInf) {
  float x[kBatch], y[kBatch];
  double worst = 0;
  float where = 0;
  const uint64_t stride = 1021 * static_cast<uint64_t>(property_cases(100) == 100 ? 1 : 10);
  for (uint64_t start = 0; start < (uint64_t{1} << 32); start += stride * kBatch) {
    for (int64_t i = 0; i < kBatch; ++i) {
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(start + static_cast<uint64_t>(i) * stride));
      if (limit < kInf && !(std::fabs(x[i]) <= limit)) x[i] = 0;
    }
    run(x, y);
    for (int64_t i = 0; i < kBatch; ++i) {
      const double error = ulps(y[i], want(static_cast<double>(x[i])));
      if (error > worst) worst = error, where = x[i];
    }
  }
  EXPECT_LE(worst, allowed) << name << " at " << where;
}

template <class F, class G> void sweep(const char* name, F f, G want, double allowed = 2) {
  sweep_with(
      name, [&](const float* x, float* y) { one_by_one(f, x, y); }, want, allowed);
  sweep_with(
      name, [&](const float* x, float* y) { by_registers(f, x, y); }, want, allowed);
}

/// What is computed with registers only, within 1 ulp.
template <class F, class G> void sweep_registers(const char* name, F f, G want) {
  sweep_with(
      name, [&](const float* x, float* y) { by_registers(f, x, y); }, want, 1);
}

TEST(VectorMath, ExponentialsAndLogarithms) {
  sweep(
      "exp", [](auto x) { return vmath::exp(x); }, [](double x) { return std::exp(x); });
  sweep(
      "log", [](auto x) { return vmath::log(x); }, [](double x) { return std::log(x); });
  sweep(
      "log1p", [](auto x) { return vmath::log1p(x); }, [](double x) { return std::log1p(x); });
}

TEST(VectorMath, MoreExponentialsAndLogarithms) {
  sweep(
      "exp2", [](auto x) { return vmath::exp2(x); }, [](double x) { return std::exp2(x); });
  sweep(
      "expm1", [](auto x) { return vmath::expm1(x); }, [](double x) { return std::expm1(x); });
#ifdef __SANITIZE_ADDRESS__
  constexpr double kAllowed = 2.5;  // the sanitizers keep multiplications and additions apart: 2.2
#else
  constexpr double kAllowed = 2;
#endif
  sweep(
      "log2", [](auto x) { return vmath::log2(x); }, [](double x) { return std::log2(x); }, kAllowed);
  sweep(
      "log10", [](auto x) { return vmath::log10(x); }, [](double x) { return std::log10(x); }, kAllowed);
}

TEST(VectorMath, HyperbolicFunctionsAndAngles) {
  sweep(
      "sinh", [](auto x) { return vmath::sinh(x); }, [](double x) { return std::sinh(x); });
  sweep(
      "cosh", [](auto x) { return vmath::cosh(x); }, [](double x) { return std::cosh(x); });
  sweep(
      "atan", [](auto x) { return vmath::atan(x); }, [](double x) { return std::atan(x); }, 2.5);
  sweep_with(
      "tan", [](const float* x, float* y) { one_by_one([](float v) { return vmath::tan_quarter(v); }, x, y); },
      [](double x) { return std::tan(x); }, 3, vmath::kTrigonometricLimit);
}

TEST(VectorMath, SigmoidFamily) {
  sweep(
      "tanh", [](auto x) { return vmath::tanh(x); }, [](double x) { return std::tanh(x); });
  sweep(
      "sigmoid", [](auto x) { return vmath::sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }, 2.5);
  sweep(
      "softplus", [](auto x) { return vmath::softplus(x); },
      [](double x) { return x > 40 ? x : std::log1p(std::exp(x)); });
  sweep(
      "erf", [](auto x) { return vmath::erf(x); }, [](double x) { return std::erf(x); });
}

TEST(VectorMath, SineAndCosine) {
  sweep_with(
      "sin", [](const float* x, float* y) { one_by_one([](float v) { return vmath::sin_quarter(v, 0); }, x, y); },
      [](double x) { return std::sin(x); }, 2, vmath::kTrigonometricLimit);
  sweep_with(
      "cos", [](const float* x, float* y) { one_by_one([](float v) { return vmath::sin_quarter(v, 1); }, x, y); },
      [](double x) { return std::cos(x); }, 2, vmath::kTrigonometricLimit);
}

/// The y whose erf is x, by halving.
double inverse_erf(double x) {
  const double size = std::fabs(x);
  if (!(size < 1)) return size == 1 ? std::copysign(std::numeric_limits<double>::infinity(), x) : std::nan("");
  if (size < 1e-8) return x * 0.88622692545275801;
  double low = 0, high = 7;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (size > 0.5 ? std::erfc(middle) > 1 - size : std::erf(middle) < size) ? low = middle : high = middle;
  }
  return std::copysign(low, x);
}

TEST(VectorMath, SineAndCosineOfRegisters) {
  sweep_registers(
      "sin", [](auto x) { return vmath::sine<0>(x); }, [](double x) { return std::sin(x); });
  sweep_registers(
      "cos", [](auto x) { return vmath::sine<1>(x); }, [](double x) { return std::cos(x); });
}

/// A lane's bits do not depend on the other lanes, which may need more careful ways.
TEST(VectorMath, SineOfALaneIsItsOwn) {
  using V = simd::Vec<float>;
  for (const float x : {1e-30f, 0.7f, 3.0f, 1e6f, 2e6f, 1e9f, 1e12f}) {
    const V alone = vmath::splat<V>(x), want = vmath::sine<0>(alone);
    for (const float other : {0.5f, 2e6f, 1e12f, kInf}) {
      V mixed = vmath::splat<V>(other);
      mixed[1] = x;
      EXPECT_EQ(vmath::sine<0>(mixed)[1], want[1]) << x << " beside " << other;
    }
  }
}

TEST(VectorMath, InverseFunctionsAndErfc) {
  sweep(
      "asin", [](auto x) { return vmath::asin(x); }, [](double x) { return std::asin(x); }, 1);
  sweep(
      "acos", [](auto x) { return vmath::acos(x); }, [](double x) { return std::acos(x); }, 1);
  sweep_registers(
      "atanh", [](auto x) { return vmath::atanh(x); }, [](double x) { return std::atanh(x); });
  sweep(
      "erfc", [](auto x) { return vmath::erfc(x); }, [](double x) { return std::erfc(x); }, 1);
  sweep_registers(
      "erfinv", [](auto x) { return vmath::erfinv(x); }, inverse_erf);
}

/// The C library's writes a global sign.
double naive_lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}
/// The series of the modified Bessel function times e^-size, or its asymptotic one.
long double naive_scaled_bessel_i(int order, double x) {
  const long double size = std::fabs(x);
  long double term = order == 0 ? 1.0L : size / 2, sum = term;
  if (size <= 40) {
    for (int k = 1; term > 1e-21L * sum; ++k) sum += term *= size * size / (4.0L * k * (k + order));
    return std::copysign(sum * std::exp(-size), order == 0 ? 1 : x);
  }
  term = sum = 1;
  for (int k = 1; std::fabs(term) > 1e-19L; ++k)
    sum += term *= ((2.0L * k - 1) * (2 * k - 1) - 4 * order) / (8 * size * k);
  return std::copysign(sum / std::sqrt(2 * static_cast<long double>(M_PI) * size), order == 0 ? 1 : x);
}

/// Above zero: below, lgamma and digamma have zeros, near which no double has more than its absolute precision.
TEST(VectorMath, SpecialFunctions) {
  const auto sweep_registers = [](const char* name, auto f, auto want) {
    sweep_with(
        name, [&](const float* x, float* y) { by_registers(f, x, y); },
        [&](double x) { return std::isnan(x) ? x : static_cast<double>(want(x)); }, 1);
  };
  const auto above = [](auto f, auto otherwise) { return [=](double x) { return x >= 0 ? f(x) : otherwise; }; };
  sweep_registers(
      "lgamma", [](auto x) { return vmath::lgamma(vmath::select(x < 0.0f, x - x, x)); },
      above(naive_lgamma, std::numeric_limits<double>::infinity()));
  sweep_registers(
      "digamma", [](auto x) { return vmath::digamma(vmath::select(x < 0.0f, -1.0f - (x - x), x)); },
      above(reference::digamma, std::nan("")));
  const auto whole = [](int order) {
    return [order](double x) { return naive_scaled_bessel_i(order, x) * std::exp(std::fabs(x) * 1.0L); };
  };
  const auto scaled = [](int order) { return [order](double x) { return naive_scaled_bessel_i(order, x); }; };
  sweep_registers(
      "i0", [](auto x) { return vmath::bessel_i<0, false>(x); }, whole(0));
  sweep_registers(
      "i1", [](auto x) { return vmath::bessel_i<1, false>(x); }, whole(1));
  sweep_registers(
      "i0e", [](auto x) { return vmath::bessel_i<0, true>(x); }, scaled(0));
  sweep_registers(
      "i1e", [](auto x) { return vmath::bessel_i<1, true>(x); }, scaled(1));
}

TEST(VectorMath, GammaFunctionsNearAndBelowZeros) {
  const auto one = [](auto f, float x) { return f(vmath::splat<simd::Vec<float>>(x))[0]; };
  const auto of_gamma = [&](float x) { return one([](auto v) { return vmath::lgamma(v); }, x); };
  const auto of_digamma = [&](float x) { return one([](auto v) { return vmath::digamma(v); }, x); };
  for (int i = 0; i < 100000; ++i) {
    const float near = static_cast<float>(i - 50000) * 1e-6f, below = -7e-5f * static_cast<float>(i + 1);
    for (float x : {1 + near, 2 + near, 0.3f + static_cast<float>(i) * 5e-5f}) {
      EXPECT_LE(ulps(of_gamma(x), naive_lgamma(double{x})), 1) << x;
      EXPECT_LE(ulps(of_digamma(x + 0.46163f), reference::digamma(double{x + 0.46163f})), 1) << x;
      for (int n : {1, 2, 3, 9})
        EXPECT_LE(ulps(one(vmath::Polygamma(n), x), reference::polygamma(n, double{x})), 1) << x;
    }
    for (bool gamma : {true, false}) {
      const double want = gamma ? naive_lgamma(double{below}) : reference::digamma(double{below});
      const float got = gamma ? of_gamma(below) : of_digamma(below);
      EXPECT_TRUE(ulps(got, want) <= 1 || std::fabs(got - want) < 1e-8) << below << ' ' << got << ' ' << want;
    }
    if (HasFailure()) return;
  }
  for (float pole : {0.0f, -0.0f, -1.0f, -2.0f, -1e10f, -kInf}) {
    EXPECT_EQ(of_gamma(pole), kInf) << pole;
    EXPECT_EQ(one(vmath::Polygamma(1), pole), kInf) << pole;
    EXPECT_TRUE(pole == 0 ? of_digamma(pole) == std::copysign(kInf, -pole) : std::isnan(of_digamma(pole))) << pole;
  }
  EXPECT_EQ(of_digamma(kInf), kInf);
  EXPECT_EQ(one(vmath::Polygamma(1), kInf), 0);
  EXPECT_TRUE(std::signbit(one([](auto v) { return vmath::bessel_i<1, false>(v); }, -0.0f)));
}

TEST(VectorMath, AngleOfTwo) {
  const float special[] = {0, -0.0f, 1, -1, 0.4142f, 0.4143f, 1e-40f, 3e38f, kInf, -kInf, std::nanf("")};
  const auto angle = [](float y, float x) {
    return vmath::atan2(vmath::splat<simd::Vec<float>>(y), vmath::splat<simd::Vec<float>>(x))[0];
  };
  const auto expect_right = [&](float y, float x) {
    const double want = std::atan2(static_cast<double>(y), static_cast<double>(x));
    const float got = angle(y, x);
    EXPECT_LE(ulps(got, want), 1) << y << ' ' << x;
    EXPECT_TRUE(std::isnan(want) || std::signbit(got) == std::signbit(want)) << y << ' ' << x;
  };
  for (float y : special)
    for (float x : special) expect_right(y, x);
  uint32_t bits = 1;
  for (int i = 0; i < 100000; ++i) {
    const auto next = [&] { return bits = bits * 1664525u + 1013904223u; };
    expect_right(std::bit_cast<float>(next()), std::bit_cast<float>(next()));
    expect_right(static_cast<float>(static_cast<int32_t>(next())), static_cast<float>(static_cast<int32_t>(next())));
  }
}

TEST(VectorMath, NormalDistribution) {
  const auto& below = kernels::cpu::normal_below();
  const auto& slope = kernels::cpu::gelu_slope();
  for (int i = -40 * 1024; i < 40 * 1024; ++i) {
    const float x = static_cast<float>(i) / 1024;
    const double wide = static_cast<double>(x), probability = 0.5 * std::erfc(wide * -0.70710678118654752);
    const double derivative = probability + wide * 0.3989422804014327 * std::exp(-0.5 * wide * wide);
    EXPECT_NEAR(below(x), probability, x < -1.5f ? 1e-8 : 1e-7) << x;
    EXPECT_NEAR(slope(x), derivative, 1.5e-7) << x;
    if (x > -3 && x < 0) {
      EXPECT_NEAR(below(x) / probability, 1, 1e-6) << x;
    }
    const auto wide_x = vmath::splat<simd::Vec<float>>(x);
    EXPECT_NEAR(below(wide_x)[0], probability, x < -1.5f ? 1e-8 : 1e-7) << x;
    EXPECT_NEAR(slope(wide_x)[simd::kLanes<float> - 1], derivative, 1.5e-7) << x;
  }
  for (const auto* f : {&below, &slope}) {
    EXPECT_EQ((*f)(0.0f), 0.5f);
    EXPECT_EQ((*f)(kInf), 1.0f);
    EXPECT_EQ((*f)(-kInf), 0.0f);
    EXPECT_TRUE(std::isnan((*f)(std::nanf(""))));
    EXPECT_TRUE(std::isnan((*f)(vmath::splat<simd::Vec<float>>(std::nanf("")))[0]));
  }
}

/// What `f` gives for single floats, after a look that it gives registers the same.
template <class F> float special(F f, float x) {
  const float one = f(x), many = f(vmath::splat<simd::Vec<float>>(x))[simd::kLanes<float> - 1];
  EXPECT_TRUE((std::isnan(one) && std::isnan(many)) || std::bit_cast<uint32_t>(one) == std::bit_cast<uint32_t>(many))
      << x;
  return one;
}

TEST(VectorMath, SpecialValues) {
  const auto of_exp = [](float x) { return special([](auto v) { return vmath::exp(v); }, x); };
  const auto of_log = [](float x) { return special([](auto v) { return vmath::log(v); }, x); };
  const auto of_log1p = [](float x) { return special([](auto v) { return vmath::log1p(v); }, x); };
  const auto of_tanh = [](float x) { return special([](auto v) { return vmath::tanh(v); }, x); };
  const auto of_sigmoid = [](float x) { return special([](auto v) { return vmath::sigmoid(v); }, x); };
  const auto of_softplus = [](float x) { return special([](auto v) { return vmath::softplus(v); }, x); };
  const auto of_erf = [](float x) { return special([](auto v) { return vmath::erf(v); }, x); };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(of_exp(nan)) && std::isnan(of_log(nan)) && std::isnan(of_log1p(nan)));
  EXPECT_TRUE(std::isnan(of_tanh(nan)) && std::isnan(of_sigmoid(nan)) && std::isnan(of_erf(nan)));
  EXPECT_TRUE(std::isnan(of_softplus(nan)));
  EXPECT_EQ(of_exp(kInf), kInf);
  EXPECT_EQ(of_exp(-kInf), 0.0f);
  EXPECT_EQ(of_exp(0.0f), 1.0f);
  EXPECT_EQ(of_log(0.0f), -kInf);
  EXPECT_EQ(of_log(kInf), kInf);
  EXPECT_TRUE(std::isnan(of_log(-1.0f)) && std::isnan(of_log1p(-1.5f)));
  EXPECT_EQ(of_log1p(-1.0f), -kInf);
  EXPECT_EQ(of_log1p(kInf), kInf);
  EXPECT_EQ(of_tanh(kInf), 1.0f);
  EXPECT_TRUE(std::signbit(of_tanh(-0.0f)) && std::signbit(of_log1p(-0.0f)) && std::signbit(of_erf(-0.0f)));
  EXPECT_EQ(of_sigmoid(-kInf), 0.0f);
  EXPECT_EQ(of_softplus(kInf), kInf);
  EXPECT_EQ(of_erf(-kInf), -1.0f);
}

// x^y as std::pow of doubles says: every pair of special values, and random ones. Where results overflow or vanish,
// floats round to what doubles still tell apart.
TEST(VectorMath, PowOfSpecialAndRandomValues) {
  const float special[] = {0,     1,      2,        3,        0.5f,       1.5f,
                           2.5f,  4,      16777215, 16777216, 3e9f,       1e30f,
                           3e38f, 1e-30f, 1e-38f,   1e-45f,   0.9999999f, 1.0000001f,
                           127,   128,    149,      150,      kInf,       std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> x, y;
  for (const float a : special)
    for (const float b : special)
      for (const float s : {1.0f, -1.0f})
        for (const float r : {1.0f, -1.0f}) x.push_back(s * a), y.push_back(r * b);
  Random random(7);
  std::uniform_real_distribution<float> exponent(-126, 126), result(-152, 130);
  for (int i = 0; i < property_cases(2000) * 100; ++i) {
    x.push_back(std::exp2(exponent(random)));
    y.push_back(result(random) / std::log2(x.back()));
  }
  for (int i = 0; i < property_cases(2000) * 10; ++i) {
    x.push_back(static_cast<float>(pick(random, -60, 60)) / 4);
    y.push_back(static_cast<float>(pick(random, -60, 60)) / 2);
  }
  constexpr size_t kStep = simd::kLanes<float>;
  x.resize((x.size() + kStep - 1) / kStep * kStep, 1), y.resize(x.size(), 1);
  for (size_t i = 0; i < x.size(); i += kStep) {
    float got[kStep];
    simd::store<float>(got, vmath::pow(simd::load<float>(&x[i]), simd::load<float>(&y[i])));
    for (size_t k = 0; k < kStep; ++k) {
      const double want = std::pow(double{x[i + k]}, double{y[i + k]});
      EXPECT_LE(ulps(got[k], want), 1) << x[i + k] << " to the power " << y[i + k] << " is " << want << ", not "
                                       << got[k];
      EXPECT_TRUE(std::isnan(want) || std::signbit(got[k]) == std::signbit(want)) << x[i + k] << ", " << y[i + k];
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace weft::testing
