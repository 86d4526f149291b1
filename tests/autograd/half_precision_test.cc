// Values and gradients of 16 bits whose formulas have intermediate results that 16 bits cannot hold: compared with the
// same functions of the same numbers in f64.
#include <cmath>
#include <functional>
#include <limits>

#include "tensor/autocast.h"
#include "tensor/functions/statistics.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::numbers;

using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs&)>;

class HalfPrecision : public testing::NoLeaks {};

/// The largest difference of a and b, relative to the largest element of b. Infinite if one is not finite.
double difference(const Tensor& a, const Tensor& b) {
  const Tensor scale = clip(max(abs(b)), 1e-30), off = max(abs(a.to(f64) - b)) / scale;
  const double out = off.item();
  return std::isfinite(out) ? out : std::numeric_limits<double>::infinity();
}

/// Value and gradients in f16 against f64. `seed` is the gradient of every element.
void check(const char* what, const Function& f, const Inputs& values, double seed = 1) {
  Inputs half, exact;
  for (const Tensor& value : values) {
    half.push_back(parameter(value.to(f16)));
    exact.push_back(parameter(value.to(f16).to(f64)));
  }
  const Tensor y = f(half), expected = f(exact);
  constexpr double kBound = 0x1p-10;  // two roundings
  EXPECT_LT(difference(y, expected), kBound) << what;
  y.backward(full(y.shape(), seed, f16));
  expected.backward(full(y.shape(), seed, f64));
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_LT(difference(half[i].grad(), exact[i].grad()), kBound)
        << what << ", input " << i << ": " << half[i].grad().flatten().slice(0, 0, 4);
  }
}

TEST_F(HalfPrecision, ElementsOfLargeValues) {
  const Tensor large = tensor({300.0, -3000.0, 20000.0}), small = tensor({0.003, 0.01, 0.005});
  check(
      "atan", [](const Inputs& x) { return atan(x[0]); }, {large}, 20000);
  check(
      "asinh", [](const Inputs& x) { return asinh(x[0]); }, {large}, 100);
  check(
      "acosh", [](const Inputs& x) { return acosh(x[0]); }, {abs(large)}, 100);
  check(
      "log10", [](const Inputs& x) { return log10(x[0]); }, {abs(large) * 2.0}, 100);
  check(
      "i0e", [](const Inputs& x) { return i0e(x[0]); }, {large / 100.0}, 100);
  check(
      "i1e", [](const Inputs& x) { return i1e(x[0]); }, {large / 100.0}, 100);
  check(
      "log2", [](const Inputs& x) { return log2(x[0]); }, {abs(large)}, 60000);
  check(
      "addcmul", [](const Inputs& x) { return addcmul(x[0], x[1], x[2], 0.001); }, {small, small * 100.0, large}, 300);
  check(
      "softsign", [](const Inputs& x) { return softsign(x[0]); }, {large}, 60000);
  check(
      "rsqrt", [](const Inputs& x) { return rsqrt(x[0]); }, {small}, 0.001);
  check(
      "reciprocal", [](const Inputs& x) { return reciprocal(x[0]); }, {small}, 0.001);
  check(
      "atan2", [](const Inputs& x) { return atan2(x[0], x[1]); }, {large, flip(large, {0}).contiguous()}, 20000);
  check("addcdiv", [](const Inputs& x) { return addcdiv(x[0], x[1], x[2]); }, {small, large * 2, large});
}

TEST_F(HalfPrecision, ElementsThatManyWindowsShare) {
  const Tensor x = ones({6000});
  check("unfold", [](const Inputs& in) { return unfold(in[0], 0, 5000, 1); }, {x});
  check("unfold twice", [](const Inputs& in) { return unfold(unfold(in[0], 0, 5900, 1), 1, 5800, 1); }, {x});
  check("stride 0", [](const Inputs& in) { return as_strided(in[0], {20000, 3}, {0, 1}); }, {x});
  check("windows over padding", [](const Inputs& in) { return unfold(pad(in[0], {{40, 40}}), 0, 5000, 1); }, {x});
  // Terms of any size, also in bf16.
  const Tensor a = parameter(randn({300}).to(bf16)), exact = parameter(a.detach().to(f64));
  const Tensor seed = rand({101, 200}).to(bf16);
  unfold(a, 0, 200, 1).backward(seed);
  unfold(exact, 0, 200, 1).backward(seed.to(f64));
  EXPECT_LT(difference(a.grad(), exact.grad()), 0x1p-8);
}

TEST_F(HalfPrecision, ReductionsOfManyElements) {
  const Tensor ties = zeros({70000});
  check(
      "max", [](const Inputs& x) { return max(x[0]); }, {ties}, 60000);
  check(
      "norm inf", [](const Inputs& x) { return norm(x[0], INFINITY); }, {ties + 2.0}, 60000);
  check(
      "var", [](const Inputs& x) { return var(x[0]); }, {randn({100000}) * 200.0}, 1000);
  const Tensor index = zeros({70000}, i64);
  check(
      "scatter_reduce amax", [&](const Inputs& x) { return scatter_reduce(x[0], 0, index, x[1], "amax"); },
      {zeros({1}), ties}, 60000);
  check(
      "scatter_reduce mean", [&](const Inputs& x) { return scatter_reduce(x[0], 0, index, x[1], "mean"); },
      {ones({1}), ones({70000})}, 60000);
}

TEST_F(HalfPrecision, NormsWhoseReciprocalOverflows) {
  for (const double p : {1.5, 2.0, 3.0}) {
    const Tensor x = parameter(full({3}, 1e-6, f16));  // 17 times the smallest subnormal number: within 1 / 17
    norm(x, p).backward();
    EXPECT_TRUE(allclose(x.grad().to(f32), full({3}, std::pow(3, 1 / p - 1)), 1 / 17.0, 0)) << x.grad();
  }
}

TEST_F(HalfPrecision, StatisticsWithLargeSums) {
  const Tensor ramp = arange(0, 200, 0.1), both = stack({ramp, ramp * -0.5 + sin(ramp)});
  check("cov", [](const Inputs& x) { return cov(x[0]); }, {both});
  check(
      "corrcoef", [](const Inputs& x) { return corrcoef(x[0]); }, {both}, 10000);
  check("trapezoid", [](const Inputs& x) { return trapezoid(x[0], 0.001); }, {full({1001}, 100)});
  check(
      "trapezoid over x", [](const Inputs& x) { return trapezoid(x[0], x[1]); },
      {full({4}, 40000), arange(4, f32) * 0.1}, 0.001);
  check("cumulative_trapezoid", [](const Inputs& x) { return cumulative_trapezoid(x[0], 0.001); }, {full({1001}, 100)});
  EXPECT_EQ(logit(ones({1}, f16), 1e-6).item(), 13.8046875);
}

TEST_F(HalfPrecision, TheStandardDeviationUnderAutocastHasOneDType) {
  const Autocast autocast(bf16);
  const Tensor x = parameter(randn({3, 8}).to(bf16)), y = stddev(x, 1);
  EXPECT_EQ(y.dtype(), var(x, 1).dtype());
  EXPECT_EQ(y.dtype(), stddev(x.detach(), 1).dtype());
  EXPECT_EQ(grad(y.sum(), x).dtype(), bf16);
}

/// The gradient of sum(seed * gradient of sum(y^3)), y = f(x).
Tensor second_gradient(const Function& f, const Tensor& x, const Tensor& seed) {
  const Tensor y = f({x}), first = grad({sum(y * y * y)}, {x}, {.create_graph = true})[0];
  return grad({sum(first * seed)}, {x})[0];
}

TEST_F(HalfPrecision, SecondDerivativesOfNormsAreOfF32) {
  const Tensor x = randn({4, 6, 8}) * 400.0, seed = randn(x.shape()) * 300.0, weight = rand({8}), channels = rand({6});
  const std::pair<const char*, Function> norms[] = {
      {"layer_norm", [&](const Inputs& in) { return layer_norm(in[0], {8}, weight.to(in[0].dtype())); }},
      {"rms_norm", [&](const Inputs& in) { return rms_norm(in[0], {8}, weight.to(in[0].dtype())); }},
      {"group_norm", [&](const Inputs& in) { return group_norm(in[0], 2, channels.to(in[0].dtype())); }},
      {"batch_norm",
       [&](const Inputs& in) { return batch_norm_with_statistics(in[0], channels.to(in[0].dtype())).y; }}};
  for (const auto& [name, f] : norms) {
    const Tensor half = parameter(x.to(f16)), exact = parameter(half.detach().to(f64));
    EXPECT_LT(difference(second_gradient(f, half, seed.to(f16)), second_gradient(f, exact, seed.to(f16).to(f64))),
              0x1p-8)
        << name;
  }
}

TEST_F(HalfPrecision, AttentionWithATrainedMaskIsOfF32) {
  for (const DType dtype : {bf16, f16}) {
    Inputs half, exact;
    for (const Shape& shape : {Shape{2, 16, 32}, {2, 16, 32}, {2, 16, 32}, {16, 16}}) {
      half.push_back(parameter((randn(shape) * 8.0).to(dtype)));
      exact.push_back(parameter(half.back().detach().to(f64)));
    }
    const auto attend = [](const Inputs& in) {
      return scaled_dot_product_attention(in[0], in[1], in[2], {.mask = in[3]});
    };
    const Tensor seed = randn({2, 16, 32}).to(dtype);
    attend(half).backward(seed);
    attend(exact).backward(seed.to(f64));
    const double bound = dtype == bf16 ? 0x1p-7 : 0x1p-10;
    for (size_t i = 0; i < 4; ++i)
      EXPECT_LT(difference(half[i].grad(), exact[i].grad()), bound) << dtype << ", input " << i;
  }
}

/// y in 16 bits is x's result in f64, rounded once.
void check_rounded_once(const char* what, const std::function<Tensor(const Tensor&)>& f, const Shape& shape) {
  Generator g(9);
  for (const DType dtype : {f16, bf16}) {
    const Tensor x = randn(shape, g).to(dtype);
    EXPECT_TRUE(equal(f(x), f(x.to(f32)).to(dtype))) << what << " " << dtype;
  }
}

TEST_F(HalfPrecision, PoolsAndResamplingRoundOnce) {
  check_rounded_once("count_include_pad",
                     [](const Tensor& x) {
                       return avg_pool2d(x, {.kernel_size = 3, .stride = 2, .padding = 1, .count_include_pad = false});
                     },
                     {2, 9, 15, 14});
  check_rounded_once("ceil_mode",
                     [](const Tensor& x) { return avg_pool2d(x, {.kernel_size = 3, .stride = 2, .ceil_mode = true}); },
                     {2, 9, 14, 14});
  check_rounded_once("divisor",
                     [](const Tensor& x) { return avg_pool2d(x, {.kernel_size = 3, .divisor_override = 7}); },
                     {2, 9, 14, 14});
  check_rounded_once("adaptive", [](const Tensor& x) { return adaptive_avg_pool3d(x, 3); }, {2, 3, 7, 8, 5});
  check_rounded_once("trilinear",
                     [](const Tensor& x) { return interpolate(x, {.scale = 1.5, .mode = Interpolation::trilinear}); },
                     {2, 3, 4, 5, 6});
}

TEST_F(HalfPrecision, ConvolutionsOfMixedDtypesAreComputedInTheDtypeOfAllTheirInputs) {
  Generator g(5);
  const Tensor x = randn({2, 3, 6, 6}, g).to(bf16), w = randn({3, 3, 3, 3}, g).to(bf16), v = randn({3}, g);
  const Tensor wide_x = x.to(f32), wide_w = w.to(f32);
  const ConvScaling scaling{.scale = v, .shift = v * 2.0, .relu = true};
  const Tensor expected = conv2d_scaled(wide_x, wide_w, scaling);
  EXPECT_TRUE(allclose(conv2d_scaled(x, w, scaling), expected, 1e-5, 1e-4));
  EXPECT_TRUE(allclose(conv2d_scaled(x, parameter(w), scaling), expected, 1e-5, 1e-4)) << "by separate ops";
  EXPECT_TRUE(equal(conv_transpose2d(x, w, v), conv_transpose2d(wide_x, wide_w, v)));
  {
    const Autocast scope(f16);
    EXPECT_EQ(conv2d_scaled(wide_x, wide_w, scaling).dtype(), f16);
    EXPECT_EQ(conv2d_scaled(wide_x, parameter(wide_w), scaling).dtype(), f16);
  }
  for (const Tensor& weight : {wide_w, parameter(wide_w)})  // a residual of one line would broadcast
    EXPECT_EQ(error_of([&] {
                conv2d_scaled(wide_x, weight, {.residual = ones({1, 4})});
              }),
              "conv2d_scaled([2, 3, 6, 6] f32, [3, 3, 3, 3] f32): residual must have shape [2, 3, 4, 4], not [1, 4]");
}

TEST_F(HalfPrecision, TheGradientOfFmodHasItsWholeQuotient) {
  const Tensor a = tensor({1.0}, f64), b = parameter(tensor({0.1}, f64));
  fmod(a, b).sum().backward();  // 0.1 - 9e-17: nine times b, though 1 / 0.1 is 10
  EXPECT_EQ(numbers(b.grad()), testing::Numbers({-9}));
}

}  // namespace
}  // namespace weft
