// Values and gradients at the ends of what a dtype holds, where intermediate results overflow or underflow.
#include <limits>

#include "tests/autograd/checks.h"

namespace weft::testing {
namespace {

using Numbers = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ExtremeValues, NormsWhoseSquaresOverflowAreThoseOfTheScaledRow) {
  const Tensor small = tensor({1.f, 2.f, -1.f}), large = small * 1e25;
  EXPECT_TRUE(allclose(layer_norm(large, {3}), layer_norm(small, {3}), 1e-4));
  EXPECT_TRUE(allclose(rms_norm(large, {3}), rms_norm(small, {3}), 1e-4));
  EXPECT_TRUE(allclose(group_norm(large.view({1, 1, 3}), 1), layer_norm(small, {3}).view({1, 1, 3}), 1e-4));
  EXPECT_TRUE(allclose(layer_norm(large.to(bf16), {3}).to(f32), layer_norm(small, {3}), 1e-2));
  const Tensor sums = layer_norm(full({4}, 3e38) * tensor({1.f, 1.f, 1.f, 0.f}), {4});  // 9e38 is beyond f32
  EXPECT_TRUE(allclose(sums, layer_norm(tensor({1.f, 1.f, 1.f, 0.f}), {4}), 1e-4));
  const auto slope = [](const Tensor& rows, double scale) {
    const Tensor x = parameter(rows * scale);
    return grad((group_norm(x, 2) * rows.flip({-1})).sum(), x) * scale;
  };
  const Tensor rows = randn({2, 4, 80});
  EXPECT_TRUE(allclose(slope(rows, 1e22), slope(rows, 1), 1e-3, 1e-4));
  EXPECT_TRUE(all(isnan(layer_norm(tensor({1e200, 2e200, -1e200}, f64), {3}))).item<bool>());
  // By pixels squares are not summed again, but a NaN is seen.
  const Tensor pixels = (randn({1, 4, 4, 2}) * 1e25).permute({0, 3, 1, 2});
  EXPECT_TRUE(all(isnan(group_norm(pixels, 1))).item<bool>());
}

TEST(ExtremeValues, GradientsOfNormsAndAnglesStayInRange) {
  const Tensor tiny = parameter(tensor({1e-40f, 0.f, 2e-40f}));
  EXPECT_EQ(grad(norm(tiny), tiny).to_vector<double>(), Numbers({0, 0, 0}));
  const Tensor a = parameter(tensor({1e-30f, 1e25f, 0.f, 3.f})), b = parameter(tensor({1e-30f, 1e25f, 0.f, 4.f}));
  const auto slopes = grad({atan2(a, b).sum()}, {a, b});
  EXPECT_TRUE(allclose(slopes[0] / tensor({5e29f, 5e-26f, 1.f, 0.16f}), tensor({1.f, 1.f, 0.f, 1.f}), 1e-5));
  EXPECT_TRUE(allclose(slopes[1] / tensor({5e29f, 5e-26f, 1.f, 0.12f}), tensor({-1.f, -1.f, 0.f, -1.f}), 1e-5));
}

TEST(ExtremeValues, WholeQuotientsHaveNoSlopeWhereTheDivisorIsZero) {
  for (const char* mode : {"trunc", "floor"}) {
    const Tensor a = parameter(tensor({1.f, 0.f})), b = parameter(zeros({2}));
    for (const Tensor& slope : grad({div(a, b, mode).sum()}, {a, b}))
      EXPECT_EQ(slope.to_vector<double>(), Numbers({0, 0})) << mode;
  }
}

TEST(ExtremeValues, TheMedianSharesItsSlopeAmongItsEquals) {
  const Tensor x = parameter(tensor({-kInfinity, -kInfinity, 1.0}, f64));
  EXPECT_EQ(grad(median(x), x).to_vector<double>(), Numbers({0.5, 0.5, 0}));
  EXPECT_EQ(grad(nanmedian(x), x).to_vector<double>(), Numbers({0.5, 0.5, 0}));
  const Tensor y = parameter(tensor({kInfinity, 1.0, kInfinity}, f64));
  EXPECT_EQ(grad(median(y), y).to_vector<double>(), Numbers({0.5, 0, 0.5}));
}

TEST(ExtremeValues, QuantilesBetweenEqualElementsAreOfBoth) {
  const Tensor x = parameter(tensor({0.0, 0.0, 3.0}, f64)), infinite = parameter(tensor({1.0, kInfinity, kInfinity}));
  EXPECT_TRUE(allclose(grad(quantile(x, 0.25), x), tensor({0.5, 0.5, 0.0}, f64)));
  EXPECT_EQ(quantile(infinite, 0.75).item(), kInfinity);
  EXPECT_FALSE(any(isnan(grad(quantile(infinite, 0.75), infinite))).item<bool>());
}

TEST(ExtremeValues, CtcLossOfOnePathHasTheSlopeOfItsSum) {
  constexpr int64_t kSteps = 600;
  const Tensor path = 1 + arange(kSteps) % 2, lengths = full({1}, kSteps);
  const Tensor expected = -one_hot(path, 3).to(f64);
  for (const double scale : {0.353, 50.0, 1e17}) {
    const Tensor log_probs = parameter(-rand({kSteps, 1, 3}, f64) * scale);
    ctc_loss(log_probs, path.view({1, kSteps}), lengths, lengths, {.reduction = Reduction::sum}).backward();
    EXPECT_TRUE(allclose(log_probs.grad().view({kSteps, 3}), expected, 0, 1e-12)) << scale;
  }
}

TEST(ExtremeValues, TheSecondDerivativeOfGeluIsZeroFarOut) {
  for (const Tensor& start : {tensor({1e20f, -1e15f}), tensor({300.f, -6e4f}).to(f16)})
    for (const Gelu form : {Gelu::exact, Gelu::tanh}) {
      const Tensor x = parameter(start.clone());
      const Tensor slope = grad(gelu(x, form).sum(), x, {.create_graph = true});
      EXPECT_EQ(grad(slope.sum(), x).to_vector<double>(), Numbers({0, 0})) << start.dtype();
    }
}

TEST(ExtremeValues, QuantilesBesideInfinity) {
  const Tensor x = tensor({-kInfinity, -kInfinity, 0.0, 1.0}, f64), y = tensor({-kInfinity, 1.0, 2.0, kInfinity}, f64);
  const auto at = [](const Tensor& rows, double q, QuantileMode mode) {
    return quantile(rows, q, {.mode = mode}).item();
  };
  for (const QuantileMode mode : {QuantileMode::higher, QuantileMode::nearest}) EXPECT_EQ(at(x, 0.6, mode), 0);
  for (const QuantileMode mode : {QuantileMode::linear, QuantileMode::lower, QuantileMode::midpoint}) {
    EXPECT_EQ(at(x, 0.6, mode), -kInfinity);
    EXPECT_EQ(at(y, 0.1, mode), -kInfinity);
  }
  EXPECT_EQ(at(y, 0.1, QuantileMode::higher), 1);
  EXPECT_EQ(at(y, 0.9, QuantileMode::linear), kInfinity);
  EXPECT_EQ(at(y, 0.9, QuantileMode::lower), 2);
}

TEST(ExtremeValues, HistcOfWholeNumbersHasWholeEdges) {
  for (const DType dtype : {f32, f64})
    for (int64_t width = 1; width < 200; ++width)
      EXPECT_TRUE(
          equal(histc(arange(10 * width).to(dtype), 10, 0, static_cast<double>(10 * width)), full({10}, width, dtype)))
          << width;
  EXPECT_EQ(histc(tensor({0.f, 1e38f, 1.5e38f, 3e38f}), 10).to_vector<double>(),
            Numbers({1, 0, 0, 1, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(histc(tensor({-1.5e308, 0.0, 1.5e308}, f64), 4).to_vector<double>(), Numbers({1, 0, 1, 1}));
  EXPECT_EQ(histc(arange(9).to(f32) * 0x1p-126, 4).to_vector<double>(), Numbers({2, 2, 2, 3}));
}

}  // namespace
}  // namespace weft::testing
