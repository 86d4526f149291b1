// The float functions against double over all of their range: at most 2 ulp (sigmoid 2.5), subnormal results included.
#include "tensor/kernels/cpu/vector_math.h"

#include <gtest/gtest.h>

#include "tensor/kernels/cpu/simd.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft::testing {
namespace {

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

// Every 1021st float, so that a run takes a second; in a loop that vectorises, like the kernels'.
template <class F, class G>
void sweep(const char* name, F f, G want, double allowed = 2, float limit = kInf) {
  float x[kBatch], y[kBatch];
  double worst = 0;
  float where = 0;
  const uint64_t stride = 1021 * static_cast<uint64_t>(property_cases(100) == 100 ? 1 : 10);
  for (uint64_t start = 0; start < (uint64_t{1} << 32); start += stride * kBatch) {
    for (int64_t i = 0; i < kBatch; ++i) {
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(start + static_cast<uint64_t>(i) * stride));
      if (limit < kInf && !(std::fabs(x[i]) <= limit)) x[i] = 0;
    }
#pragma omp simd
    for (int64_t i = 0; i < kBatch; ++i) y[i] = f(x[i]);
    for (int64_t i = 0; i < kBatch; ++i) {
      const double error = ulps(y[i], want(static_cast<double>(x[i])));
      if (error > worst) worst = error, where = x[i];
    }
  }
  EXPECT_LE(worst, allowed) << name << " at " << where;
}

TEST(VectorMath, exponentials_and_logarithms) {
  sweep(
      "exp", [](float x) { return vmath::exp(x); }, [](double x) { return std::exp(x); });
  sweep(
      "log", [](float x) { return vmath::log(x); }, [](double x) { return std::log(x); });
  sweep(
      "log1p", [](float x) { return vmath::log1p(x); }, [](double x) { return std::log1p(x); });
}

TEST(VectorMath, sigmoid_family) {
  sweep(
      "tanh", [](float x) { return vmath::tanh(x); }, [](double x) { return std::tanh(x); });
  sweep(
      "sigmoid", [](float x) { return vmath::sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }, 2.5);
  sweep(
      "softplus", [](float x) { return vmath::softplus(x); },
      [](double x) { return x > 40 ? x : std::log1p(std::exp(x)); });
  sweep(
      "erf", [](float x) { return vmath::erf(x); }, [](double x) { return std::erf(x); });
}

TEST(VectorMath, sine_and_cosine) {
  sweep(
      "sin", [](float x) { return vmath::sin_quarter(x, 0); }, [](double x) { return std::sin(x); }, 2,
      vmath::kTrigonometricLimit);
  sweep(
      "cos", [](float x) { return vmath::sin_quarter(x, 1); }, [](double x) { return std::cos(x); }, 2,
      vmath::kTrigonometricLimit);
}

// The exponential that reductions and softmax run on whole registers.
template <class T>
T register_exp(T x) {
  namespace simd = kernels::cpu::simd;
  constexpr int kWidth = simd::kLanes<T>;
  return simd::exp<kWidth>(simd::splat<T, kWidth>(x))[kWidth - 1];
}

TEST(VectorMath, exponential_of_registers) {
  sweep(
      "exp of registers", [](float x) { return register_exp(x); }, [](double x) { return std::exp(x); });
  for (double x = -740; x < 709; x += 0.37) EXPECT_NEAR(register_exp(x) / std::exp(x), 1, x < -708 ? 0.2 : 4e-16) << x;
  EXPECT_TRUE(std::isnan(register_exp(std::nanf(""))) && std::isnan(register_exp(std::nan(""))));
  EXPECT_EQ(register_exp(kInf), kInf);
  EXPECT_EQ(register_exp(-kInf), 0.0f);
  EXPECT_EQ(register_exp(0.0f), 1.0f);
  EXPECT_EQ(register_exp(static_cast<double>(kInf)), kInf);
  EXPECT_EQ(register_exp(static_cast<double>(-kInf)), 0.0);
  EXPECT_EQ(register_exp(0.0), 1.0);
}

TEST(VectorMath, special_values) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(vmath::exp(nan)) && std::isnan(vmath::log(nan)) && std::isnan(vmath::log1p(nan)));
  EXPECT_TRUE(std::isnan(vmath::tanh(nan)) && std::isnan(vmath::sigmoid(nan)) && std::isnan(vmath::erf(nan)));
  EXPECT_TRUE(std::isnan(vmath::softplus(nan)));
  EXPECT_EQ(vmath::exp(kInf), kInf);
  EXPECT_EQ(vmath::exp(-kInf), 0.0f);
  EXPECT_EQ(vmath::exp(0.0f), 1.0f);
  EXPECT_EQ(vmath::log(0.0f), -kInf);
  EXPECT_EQ(vmath::log(kInf), kInf);
  EXPECT_TRUE(std::isnan(vmath::log(-1.0f)) && std::isnan(vmath::log1p(-1.5f)));
  EXPECT_EQ(vmath::log1p(-1.0f), -kInf);
  EXPECT_EQ(vmath::log1p(kInf), kInf);
  EXPECT_EQ(vmath::tanh(kInf), 1.0f);
  EXPECT_TRUE(std::signbit(vmath::tanh(-0.0f)) && std::signbit(vmath::log1p(-0.0f)) && std::signbit(vmath::erf(-0.0f)));
  EXPECT_EQ(vmath::sigmoid(-kInf), 0.0f);
  EXPECT_EQ(vmath::softplus(kInf), kInf);
  EXPECT_EQ(vmath::erf(-kInf), -1.0f);
}

}  // namespace
}  // namespace weft::testing
