// Values and gradients at the ends of what a dtype holds, where intermediate results overflow or underflow.
#include <cmath>
#include <limits>

#include "tensor/batching/vmap.h"
#include "tensor/runtime/denormals.h"
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
  const auto slope = [](const Tensor& rows, double scale, double of_result = 1) {
    const Tensor x = parameter(rows * scale);
    return grad((group_norm(x, 2) * rows.flip({-1}) * of_result).sum(), x) * (scale / of_result);
  };
  const Tensor rows = randn({2, 4, 80});
  EXPECT_TRUE(allclose(slope(rows, 1e22), slope(rows, 1), 1e-3, 1e-4));
  EXPECT_TRUE(all(isnan(layer_norm(tensor({1e200, 2e200, -1e200}, f64), {3}))).item<bool>());
  const Tensor by_pixels = randn({2, 5, 5, 4}).permute({0, 3, 1, 2});
  EXPECT_TRUE(allclose(slope(by_pixels, 1e15, 1e-14), slope(by_pixels, 1), 1e-3, 1e-4));
  EXPECT_TRUE(allclose(slope(by_pixels, 1e25), slope(by_pixels, 1), 1e-3, 1e-4));
  EXPECT_TRUE(allclose(group_norm(by_pixels * 5e37, 2), group_norm(by_pixels, 2), 1e-4, 1e-4));
  const Tensor wide = by_pixels.to(f64) * 1e200;  // 1 / inf would hide it
  EXPECT_TRUE(all(isnan(group_norm(wide, 2))).item<bool>());
}

TEST(ExtremeValues, GradientsOfNormsAndAnglesStayInRange) {
  const Tensor tiny = parameter(tensor({1e-40f, 0.f, 2e-40f}));
  EXPECT_EQ(grad(norm(tiny), tiny).to_vector<double>(), Numbers({0, 0, 0}));
  const Tensor a = parameter(tensor({1e-30f, 1e25f, 0.f, 3.f})), b = parameter(tensor({1e-30f, 1e25f, 0.f, 4.f}));
  const auto slopes = grad({atan2(a, b).sum()}, {a, b});
  EXPECT_TRUE(allclose(slopes[0] / tensor({5e29f, 5e-26f, 1.f, 0.16f}), tensor({1.f, 1.f, 0.f, 1.f}), 1e-5));
  EXPECT_TRUE(allclose(slopes[1] / tensor({5e29f, 5e-26f, 1.f, 0.12f}), tensor({-1.f, -1.f, 0.f, -1.f}), 1e-5));
}

TEST(ExtremeValues, TheSlopeOfMishIsOneHoweverLargeItsInputIs) {
  for (const DType dtype : {f32, f64, bf16}) {
    const Tensor x = parameter(tensor({1e8, 1e15, 1e30, 3e38}, f64).to(dtype));
    EXPECT_EQ(grad(mish(x).sum(), x).to_vector<double>(), Numbers({1, 1, 1, 1})) << name_of(dtype);
  }
}

TEST(ExtremeValues, SlopesOfPowersAndQuotientsStayInRange) {
  const Tensor a = parameter(tensor({0.0078125}, f64).to(f16)), b = parameter(tensor({3.0}, f64).to(f16));
  const auto slopes = grad({pow(a, b)}, {a, b}, {.seeds = {full({1}, 60000, f16)}});
  EXPECT_NEAR(slopes[0].item<double>(), 60000 * 3 * 0x1p-14, 0.01);
  const Tensor base = parameter(full({1}, 3, f16)), large = parameter(full({1}, 10, f16));
  const auto small = grad({pow(base, large)}, {base, large}, {.seeds = {full({1}, 0.0625, f16)}});
  EXPECT_NEAR(small[0].item<double>(), 0.0625 * 10 * 19683, 10);
  EXPECT_NEAR(small[1].item<double>(), 0.0625 * 59049 * std::log(3), 5);
  const Tensor x = parameter(tensor({1e25f, 1e-25f})), y = parameter(tensor({1e25f, 1e-25f}));
  const Tensor slope = grad(addcdiv(zeros({2}), x, y).sum(), y);
  EXPECT_TRUE(allclose(slope * y, full({2}, -1), 1e-5));
  const Tensor p = parameter(full({3}, 0x1p70)), q = full({3}, 0x1p-70), seed = full({3}, 0x1p70);
  EXPECT_TRUE(equal(grad({addcmul(p, p, p, 0x1p-70)}, {p}, {.seeds = {seed}})[0], seed * 3.0));
  EXPECT_TRUE(equal(grad({addcdiv(zeros({3}), p, q, 0x1p-70)}, {p}, {.seeds = {seed}})[0], seed));
  // A small seed and a small value do not vanish before they meet a large operand.
  const Tensor tiny = full({3}, 0x1p-100);
  EXPECT_TRUE(equal(grad({addcmul(zeros({3}), p, p, 0x1p-70)}, {p}, {.seeds = {tiny}})[0], tiny * 2.0));
}

TEST(ExtremeValues, ABoundOf0IsOutsideWhereDenormalsCountAs0Too) {
  const Tensor x = parameter(tensor({-1.f, 0.f, 1.f}));
  for (const bool flushes : {false, true}) {
    flush_denormals(flushes);
    const Tensor slopes = grad(relu6(x).sum(), x), leaky = grad(leaky_relu(x, 0.25).sum(), x),
                 below = grad(hardtanh(x, -2, 0).sum(), x);
    flush_denormals(false);
    EXPECT_EQ(slopes.to_vector<double>(), Numbers({0, 0, 1}));
    EXPECT_EQ(leaky.to_vector<double>(), Numbers({0.25, 0.25, 1}));
    EXPECT_EQ(below.to_vector<double>(), Numbers({1, 0, 0}));
  }
}

TEST(ExtremeValues, DistancesOfRowsThatAreNearHaveTheSlopesOfTheirDifferences) {
  const Tensor a = randn({2, 30, 4}), b = a + randn({2, 30, 4}) * 1e-6;
  const auto slopes = [&](DType dtype) {
    const Tensor x = parameter(a.to(dtype)), y = parameter(b.to(dtype));
    return grad({cdist(x, y).sum()}, {x, y});
  };
  const auto narrow = slopes(f32), wide = slopes(f64);
  for (const size_t i : {0, 1}) EXPECT_TRUE(allclose(narrow[i].to(f64), wide[i], 0, 1e-4));
  const auto slope = [](const Tensor& rows) {
    const Tensor near = rows.detach() * (1 + 0x1p-20);
    return vjp([&](const Tensor& x) { return cdist(x, near).sum(); }, rows).gradient;
  };
  EXPECT_TRUE(allclose(vmap(slope)(a), stack({slope(a[0]), slope(a[1])}), 0, 1e-5));
  const Tensor tiny = parameter(tensor({{1e-40}, {2e-40}}));
  EXPECT_EQ(grad(cdist(tiny, tiny).sum(), tiny).to_vector<double>(), Numbers({0, 0}));
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

TEST(ExtremeValues, TheSlopeOfMishIsOneFarOut) {
  const Tensor x = parameter(tensor({1e17, 1e30, 3e38, -1e30}, f64));
  for (const DType dtype : {f32, f64})
    EXPECT_EQ(grad(mish(x.to(dtype)).sum(), x).to_vector<double>(), Numbers({1, 1, 1, 0})) << dtype;
}

TEST(ExtremeValues, TheSecondDerivativeOfLogsigmoidAndSoftplusVanishesAtBothEnds) {
  const Tensor x = parameter(tensor({30.f, -30.f, 80.f, -80.f})), curve = exp(-abs(x.detach()));
  const auto second = [&](const Tensor& y) { return grad(grad(y.sum(), x, {.create_graph = true}).sum(), x); };
  EXPECT_TRUE(allclose(second(softplus(x)) / curve, ones({4}), 1e-5));
  EXPECT_TRUE(allclose(second(logsigmoid(x)) / curve, -ones({4}), 1e-5));
  const Tensor zero = parameter(zeros({}, f64));
  Tensor slope = softplus(zero);
  for (int order = 1; order <= 4; ++order) slope = grad(slope, zero, {.create_graph = true});
  EXPECT_DOUBLE_EQ(slope.item<double>(), -0.125);
}

TEST(ExtremeValues, AtAnOpenBoundOfZeroTheSlopeIsTheOuterOneWhereDenormalsCountAsZero) {
  flush_denormals(true);
  for (const DType dtype : {f32, f64, bf16, f16}) {
    const Tensor x = parameter(tensor({0.0, -0.0, 1.0}).to(dtype));
    EXPECT_EQ(grad(relu6(x).sum(), x).to_vector<double>(), Numbers({0, 0, 1})) << dtype;
    EXPECT_EQ(grad(hardtanh(x, -1, 0).sum(), x).to_vector<double>(), Numbers({0, 0, 0})) << dtype;
    EXPECT_EQ(grad(leaky_relu(x, 0.5).sum(), x).to_vector<double>(), Numbers({0.5, 0.5, 1})) << dtype;
  }
  flush_denormals(false);
}

TEST(ExtremeValues, TheSlopeOfMatrixExpHasTheDigitsOfItsMatrix) {
  const Tensor x = randn({2, 5, 5}), weights = randn({2, 5, 5}), wide = parameter(x.to(f64));
  const Tensor expected = grad((matrix_exp(wide) * weights).sum(), wide).to(f32);
  for (const double scale : {1.0, 65536.0, 1e8, 1e30}) {  // such as that of a GradScaler
    const Tensor narrow = parameter(x.clone());
    EXPECT_TRUE(allclose(grad((matrix_exp(narrow) * weights * scale).sum(), narrow) / scale, expected, 1e-4, 1e-4))
        << scale;
  }
}

TEST(ExtremeValues, DeterminantsBesideSingularOnesHaveTheSlopesTheyHaveAlone) {
  const Tensor given = stack({ones({2, 2}), eye(2), full({2, 2}, NAN)}), x = parameter(given);
  const Tensor slope = grad(det(x).sum(), x, {.create_graph = true}), second = grad(slope.narrow(0, 0, 2).sum(), x);
  EXPECT_TRUE(allclose(slope.narrow(0, 0, 2), stack({tensor({1.f, -1.f, -1.f, 1.f}).view({2, 2}), eye(2)})));
  const Tensor alone = parameter(eye(2));
  EXPECT_TRUE(equal(second[1], grad(grad(det(alone), alone, {.create_graph = true}).sum(), alone)));
}

TEST(ExtremeValues, DistancesWhoseDigitsSumsInF64LoseHaveSlopes) {
  const Tensor a = tensor({{0.f, 0.f}, {1e-12f, 0.f}, {1.f, 1.f}}), b = tensor({{1e-12f, 1e-12f}, {3.f, 4.f}});
  const auto slopes = [](const Tensor& left, const Tensor& right) {
    const Tensor x = parameter(left.clone()), y = parameter(right.clone());
    return grad({cdist(x, y).sum()}, {x, y});
  };
  const auto found = slopes(a, b), expected = slopes(a.to(f64), b.to(f64));
  for (const size_t i : {0, 1}) EXPECT_TRUE(allclose(found[i], expected[i].to(f32), 1e-5, 1e-5)) << i;
  EXPECT_EQ(slopes(zeros({1, 1}), tensor({{1e-30f}, {1.f}}))[0].item<float>(), -2);
}

TEST(ExtremeValues, DistancesOfRowsNearToEachOtherHaveSlopesBesideFarOnes) {
  const Tensor a = randn({5, 3}) * 1e-3, b = cat({randn({4, 3}) * 1e-3, randn({4, 3}) + 1e4});
  const auto slopes = [](const Tensor& left, const Tensor& right) {
    const Tensor x = parameter(left.clone()), y = parameter(right.clone());
    const Tensor weights = arange(40).view({5, 8}).to(left.dtype());
    return grad({(cdist(x, y) * weights).sum()}, {x, y});
  };
  const auto found = slopes(a, b), expected = slopes(a.to(f64), b.to(f64));
  for (const size_t i : {0, 1}) EXPECT_TRUE(allclose(found[i], expected[i].to(f32), 1e-4, 1e-4)) << i;
  const auto halves = slopes(a.to(bf16), b.to(bf16)), exact = slopes(a.to(bf16).to(f64), b.to(bf16).to(f64));
  for (const size_t i : {0, 1}) EXPECT_TRUE(allclose(halves[i], exact[i].to(bf16), 1e-2, 0.2)) << i;
}

TEST(ExtremeValues, SingularVectorsOfTinyAndHugeMatricesHaveSlopes) {
  const Tensor x = randn({4, 4}), weights = randn({4, 4});
  const auto slope = [&](double scale) {
    const Tensor a = parameter(x * scale);
    const auto [u, s, vh] = svd(a);  // of powers of two: with the same signs
    return grad((u * weights).sum() + (vh * weights).sum(), a) * scale;
  };
  for (const double scale : {0x1p-66, 0x1p66}) EXPECT_TRUE(allclose(slope(scale), slope(1), 1e-3, 1e-4)) << scale;
}

TEST(ExtremeValues, DistancesHaveSlopesWhereTheMeanOfRowsIsNotFinite) {
  const Tensor rows = randn({3, 2}), others = randn({4, 2});
  const auto slope = [](const Tensor& a, const Tensor& b) {
    const Tensor leaf = parameter(b.clone());
    return grad(cdist(a, leaf).sum(), leaf);
  };
  const Tensor infinite = cat({others, full({1, 2}, kInfinity)});
  EXPECT_TRUE(allclose(slope(rows, infinite).narrow(0, 0, 4), slope(rows, others), 1e-5, 1e-5));
  const Tensor huge = full({4, 2}, 3e38) - others * 1e37;  // their sum overflows
  EXPECT_TRUE(allclose(slope(rows * -1e37 + 3e38, huge), slope(rows, others) * -1, 1e-3, 1e-4));
}

// As torch.segment_reduce(x, reduce, lengths=torch.tensor([3, 0, 3])) gives them.
TEST(ExtremeValues, NanIsTheExtremeOfItsSegmentAndGetsTheGradient) {
  const double nan = std::nan("");
  const std::vector<std::pair<std::string, Numbers>> gradients = {{"max", {0, 0.5, 0.5, 0.5, 0.5, 0}},
                                                                  {"min", {0, 0.5, 0.5, 0, 0, 1}}};
  for (const auto& [reduce, expected] : gradients)
    for (const DType dtype : {f64, f32, bf16, f16}) {
      const Tensor x = parameter(tensor({1.0, nan, nan, 2.0, 2.0, 1.0}, dtype));
      const Tensor y = segment_reduce(x, reduce, tensor({3, 0, 3}));
      EXPECT_TRUE(std::isnan(y[0].item<double>()));
      EXPECT_EQ(grad(y.sum(), x).to_vector<double>(), expected) << reduce << " of " << dtype;
    }
}

// As PyTorch's scatter_reduce(0, index, src, reduce, include_self=include_self) and index_reduce() have them.
TEST(ExtremeValues, NanAmongThoseThatScatterReduceComparesMakesTheirGradientsNan) {
  const double nan = std::nan("");
  for (const char* reduce : {"amax", "amin"})
    for (const bool include_self : {true, false})
      for (const DType dtype : {f64, f32, bf16, f16}) {
        const Tensor x = parameter(tensor({0.0, 0.0, 0.0, 7.0}, dtype));
        const Tensor src = parameter(tensor({1.0, nan, 3.0, 3.0}, dtype));
        const Tensor index = tensor({0, 0, 2, 2});
        const auto slopes = [&](const Tensor& y) { return grad({y.sum()}, {x, src}); };
        for (const auto& slope : {slopes(scatter_reduce(x, 0, index, src, reduce, include_self)),
                                  slopes(index_reduce(x, 0, index, src, reduce, include_self))}) {
          const Numbers of_x = slope[0].to_vector<double>(), of_src = slope[1].to_vector<double>();
          const bool is_least = include_self && std::string(reduce) == "amin";  // 0, at index 2
          EXPECT_EQ(std::isnan(of_x[0]), include_self) << reduce << " of " << dtype;
          EXPECT_EQ(Numbers(of_x.begin() + 1, of_x.end()), Numbers({1, is_least ? 1.0 : 0.0, 1}));
          EXPECT_TRUE(std::isnan(of_src[0]) && std::isnan(of_src[1])) << reduce << " of " << dtype;
          EXPECT_EQ(of_src[2], is_least ? 0 : 0.5);
        }
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

TEST(ExtremeValues, LdexpWherePowersOfTwoAreOutOfRange) {
  const Tensor floats = tensor({0x1p-149, 3.0, 0.0, kInfinity}).to(f32);
  EXPECT_EQ(ldexp(floats, tensor({276, -150, 5000, -5000})).to_vector<double>(),
            Numbers({0x1p127, 0x1p-148, 0, kInfinity}));
  const Numbers x = {1e-300, 1e300, 3}, exponents = {1030, -1100, 2};
  const Numbers products = {std::ldexp(1e-300, 1030), std::ldexp(1e300, -1100), 12};
  const Tensor number = Tensor::from(x), power = parameter(Tensor::from(exponents)), y = ldexp(number, power);
  EXPECT_EQ(y.to_vector<double>(), products);
  const Tensor slope = grad(y.sum(), power, {.create_graph = true});
  EXPECT_TRUE(allclose(slope, y * std::log(2.0), 1e-14, 0));
  EXPECT_TRUE(allclose(grad(slope.sum(), power), y * (std::log(2.0) * std::log(2.0)), 1e-14, 0));
  const auto of_samples = [](const Tensor& a, const Tensor& b) { return ldexp(a, b); };
  EXPECT_EQ(vmap(of_samples)(number, power.detach()).to_vector<double>(), products);
}

}  // namespace
}  // namespace weft::testing
