// Losses at their edges: ignored targets, infinite distances. Their usual values are in golden_test.cc.
#include "nn/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/autograd.h"
#include "tensor/functions_all.h"

namespace weft::nn {
namespace {

using Numbers = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Numbers gradient_of(const Tensor& loss, const Tensor& x) { return grad({loss}, {x})[0].to_vector<double>(); }

TEST(NllLoss, AnIgnoredTargetPointsAtNothing) {
  const Tensor x = parameter(tensor({{-kInfinity, -1.0}, {-2.0, -3.0}, {-4.0, -kInfinity}}, f64));
  const Tensor targets = tensor({-100, 1, 0});
  const Tensor loss = nll_loss(x, targets);
  EXPECT_EQ(loss.item<double>(), 3.5);
  EXPECT_EQ(gradient_of(loss, x), Numbers({0, 0, 0, -0.5, -0.5, 0}));
  EXPECT_EQ(nll_loss(x, targets, {.reduction = Reduction::none}).to_vector<double>(), Numbers({0, 3, 4}));
  EXPECT_EQ(nll_loss(x, targets, {.reduction = Reduction::sum}).item<double>(), 7.0);
}

TEST(NllLoss, AWeightOfAnIgnoredTargetGetsNoNaN) {
  const Tensor x = tensor({{-kInfinity, -1.0}, {-2.0, -3.0}}, f64), weight = parameter(tensor({1.0, 2.0}, f64));
  const Tensor loss = nll_loss(x, tensor({-100, 1}), {.weight = weight, .reduction = Reduction::sum});
  EXPECT_EQ(gradient_of(loss, weight), Numbers({0, 3}));
}

TEST(NllLoss, WithoutAnyTargetTheMeanIsNaNAndItsGradientZero) {
  const Tensor x = parameter(tensor({{-1.0, -2.0}, {-3.0, -4.0}}, f64));
  const Tensor loss = nll_loss(x, tensor({-100, -100}));
  EXPECT_TRUE(std::isnan(loss.item<double>()));
  EXPECT_EQ(gradient_of(loss, x), Numbers({0, 0, 0, 0}));
}

TEST(CrossEntropy, WithoutAnyTargetGradientsOfBothOrdersAreZero) {
  for (const double smoothing : {0.0, 0.1}) {
    const Tensor x = parameter(tensor({{-1.0, -2.0}, {-3.0, -4.0}}, f64));
    const Tensor loss = cross_entropy(x, tensor({-100, -100}), {.label_smoothing = smoothing});
    EXPECT_TRUE(std::isnan(loss.item<double>()));
    const Tensor first = grad({loss}, {x}, {.create_graph = true})[0];
    EXPECT_EQ(first.to_vector<double>(), Numbers({0, 0, 0, 0}));
    EXPECT_EQ(gradient_of(first.sum(), x), Numbers({0, 0, 0, 0}));
  }
}

TEST(CrossEntropy, SecondOrderLeavesIgnoredTargetsOut) {
  const Tensor targets = tensor({1, -100, 0});
  auto loss = [&](const std::vector<Tensor>& in) { return cross_entropy(in[0], targets); };
  EXPECT_EQ(gradgradcheck(loss, {tensor({{0.3, -0.2}, {1.0, 2.0}, {-0.7, 0.1}}, f64)}).report(), "");
}

TEST(HuberLoss, AnInfiniteDistanceHasTheSlopeDelta) {
  const Tensor x = parameter(tensor({kInfinity, -kInfinity, 0.5, -3.0}, f64)), y = zeros({4}, f64);
  const Tensor loss = huber_loss(x, y, {.delta = 2.0, .reduction = Reduction::sum});
  EXPECT_EQ(loss.item<double>(), kInfinity);
  EXPECT_EQ(gradient_of(loss, x), Numbers({2, -2, 0.5, -2}));
}

}  // namespace
}  // namespace weft::nn
