// Rules at their edges: slopes that are infinite, gradients that are not wanted.
#include <cmath>
#include <limits>

#include "tensor/dispatch/observer.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::numbers;
using testing::Numbers;

class Rules : public testing::NoLeaks {};

TEST_F(Rules, TheGradientOfStdIsZeroWhereNothingVaries) {
  const Tensor x = parameter(tensor({{3.0, 3.0, 3.0}, {1.0, 2.0, 3.0}}, f64));
  const Tensor y = stddev(x, 1);
  EXPECT_EQ(numbers(y), Numbers({0, 1}));
  y.sum().backward();
  EXPECT_EQ(numbers(x.grad()), Numbers({0, 0, 0, -0.5, 0, 0.5}));
}

TEST_F(Rules, TheSecondGradientOfStdHasNoNaN) {
  auto f = [](const std::vector<Tensor>& in) { return stddev(in[0], 1, 1, keepdim) * 2.0; };
  EXPECT_EQ(gradgradcheck(f, {tensor({{1.0, 2.0, 4.0}, {0.5, -2.0, 3.0}}, f64)}).report(), "");
  const Tensor x = parameter(full({3}, 2.0, f64));
  const Tensor first = grad({stddev(x)}, {x}, {.create_graph = true})[0];
  EXPECT_EQ(numbers(grad({first.sum()}, {x})[0]), Numbers({0, 0, 0}));
}

TEST_F(Rules, ThePaddingRowOfAnEmbeddingMayCountFromTheEnd) {
  const Tensor table = parameter(ones({3, 2}, f64));
  embedding(tensor({0, 2, 2}), table, -1).sum().backward();
  EXPECT_EQ(numbers(table.grad()), Numbers({1, 1, 0, 0, 0, 0}));
}

TEST_F(Rules, StdOfNaNIsNaN) {
  const Tensor x = parameter(tensor({1.0, std::numeric_limits<double>::quiet_NaN()}, f64));
  EXPECT_TRUE(std::isnan(stddev(x).item<double>()));
}

TEST_F(Rules, TheGradientOfLogaddexpIsZeroWhereBothAreNothing) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Tensor a = parameter(tensor({-kInf, -kInf, 0.0, 1.0}, f64));
  const Tensor b = parameter(tensor({-kInf, 2.0, -kInf, 1.0}, f64));
  const auto first = grad({logaddexp(a, b).sum()}, {a, b}, {.create_graph = true});
  EXPECT_EQ(numbers(first[0]), Numbers({0, 0, 1, 0.5}));
  EXPECT_EQ(numbers(first[1]), Numbers({0, 1, 0, 0.5}));
  EXPECT_EQ(numbers(grad({first[0].sum()}, {a})[0]), Numbers({0, 0, 0, 0.25}));
}

// A point at the center of an outer pixel has no slope, whatever the gradient it is handed.
TEST_F(Rules, TheSecondGradientOfGridSampleKnowsThatPointsOnOuterPixelsHaveNoSlope) {
  for (const GridPadding padding : {GridPadding::border, GridPadding::reflection})
    for (const bool align : {true, false}) {
      const double edge = align ? 1 : 0.75;
      const Tensor x = arange(1, 17, 1, f64).view({1, 1, 4, 4});
      const Tensor grid = parameter(tensor({{{{-edge, -edge}, {edge, edge}, {edge, 0.2}, {0.3, 0.1}}}}, f64));
      const Tensor g = parameter(ones({1, 1, 1, 4}, f64));
      const Tensor y = grid_sample(x, grid, {.padding = padding, .align_corners = align});
      const Tensor slope = grad({(y * g).sum()}, {grid}, {.create_graph = true})[0];
      // It is linear in g: a point's slope is what it is with a gradient of 1.
      const Numbers expected = numbers(slope.sum({0, 1, 3})), found = numbers(grad({slope.sum()}, {g})[0]);
      EXPECT_EQ(expected[0], 0);
      EXPECT_EQ(expected[1], 0);
      for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
    }
}

TEST_F(Rules, GridSampleTakesTheBorderInfinitelyFarOutside) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  for (const int64_t channels : {2, 17}) {  // registers of points, of channels
    const GridSampleOptions o{.mode = Interpolation::bicubic, .padding = GridPadding::border};
    const Tensor x = parameter(arange(0, channels * 6, 1, f64).view({1, channels, 2, 3}));
    const Tensor grid = parameter(tensor({{{{-kFar, 0.0}, {kFar, -kFar}, {1e308, kFar}}}}, f64));
    const Tensor y = grid_sample(x, grid, o);
    EXPECT_TRUE(allclose(y[0][1][0], tensor({7.5, 8.0, 11.0}, f64)));
    const auto first = grad({sum(y)}, {x, grid}, {.create_graph = true});
    EXPECT_NEAR(sum(first[0]).item<double>(), 3.0 * static_cast<double>(channels), 1e-12);
    EXPECT_EQ(numbers(first[1][0][0][1]), Numbers(2));
    EXPECT_FALSE(any(isnan(grad({sum(square(first[0]))}, {grid})[0])).item<bool>());
  }
}

TEST_F(Rules, TheSecondGradientOfGridSampleTakesImagesWithoutChannels) {
  const Tensor x = parameter(zeros({1, 0, 3, 3})), grid = parameter(zeros({1, 2, 2, 2}));
  const auto first = grad(sum(grid_sample(x, grid)), {x, grid}, {.create_graph = true});
  const auto second = grad(sum(square(first[1])), {x, grid});
  EXPECT_EQ(second[0].shape(), x.shape());
  EXPECT_EQ(numbers(second[1]), Numbers(8, 0.0));
}

// The border is the padding that has a value there. NaN as a weight would reach the gradients of the border's pixels.
TEST_F(Rules, AnInfinitePointOfGridSampleIsTheBorderOrNothing) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {f32, f64})
    for (const int64_t channels : {1, 20})
      for (const Interpolation mode : {Interpolation::bilinear, Interpolation::nearest, Interpolation::bicubic})
        for (const GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection}) {
          const Tensor x = parameter(arange(1, 13).to(dtype).view({1, 1, 3, 4}).expand({1, channels, 3, 4}).clone());
          const Tensor grid = parameter(tensor({{{{-kInf, 0.0}, {kInf, 0.0}, {0.25, kInf}}}}, dtype));
          const Tensor y = grid_sample(x, grid, {.mode = mode, .padding = padding, .align_corners = true});
          y.sum().backward();
          const std::string what = text(dtype, " ", channels, " ", name_of(mode), " ", static_cast<int>(padding));
          const double many = padding == GridPadding::border ? static_cast<double>(channels) : 0.0;
          EXPECT_EQ(numbers(y[0].narrow(2, 0, 2).sum(0)), Numbers({5 * many, 8 * many})) << what;
          EXPECT_NEAR(x.grad().sum().item(), 3 * many, 1e-5 * many) << what;
          EXPECT_EQ(numbers(grid.grad().narrow(2, 0, 2).select(3, 0)), Numbers(2, 0.0)) << what;
        }
}

/// The shapes of the results of the op of this name, as it ran last.
struct LastResults : Observer {
  explicit LastResults(std::string_view name) : name(name) {}
  void end(const ObserverEvent& event) override {
    if (event.kind != ObserverEvent::Kind::op || event.name != name) return;
    shapes.clear();
    for (const Tensor& out : event.outputs) shapes.push_back(out.shape());
  }
  std::string_view name;
  std::vector<Shape> shapes;
};

/// With each of x, weight and bias frozen: the others' gradients keep their bits, and that one is not computed.
template <class F>
void check_needs(const char* op, const F& norm, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor g = randn_like(x);
  std::vector<Tensor> all, leaves = {parameter(x), parameter(weight), parameter(bias)};
  norm(leaves[0], leaves[1], leaves[2]).backward(g);
  for (const Tensor& leaf : leaves) all.push_back(leaf.grad());
  for (size_t frozen = 0; frozen < 3; ++frozen) {
    for (Tensor& leaf : leaves) leaf.zero_grad();
    leaves[frozen].requires_grad_(false);
    LastResults results(op);
    {
      ObserverScope scope(results);
      norm(leaves[0], leaves[1], leaves[2]).backward(g);
    }
    leaves[frozen].requires_grad_(true);
    ASSERT_EQ(results.shapes.size(), 3u) << op;
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(results.shapes[i], i == frozen ? Shape({0}) : leaves[i].shape()) << op << " output " << i;
      EXPECT_EQ(leaves[i].grad().defined(), i != frozen);
      if (i == frozen) continue;
      EXPECT_EQ(numbers(leaves[i].grad()), numbers(all[i])) << op << " input " << i;
    }
  }
}

TEST_F(Rules, LayerNormComputesTheGradientsThatAreNeeded) {
  for (const DType dtype : {f32, f64})
    check_needs(
        "layer_norm_backward",
        [](const Tensor& x, const Tensor& w, const Tensor& b) { return layer_norm(x, {x.size(-1)}, w, b); },
        randn({33, 70}, dtype), randn({70}, dtype), randn({70}, dtype));
}

TEST_F(Rules, BatchNormComputesTheGradientsThatAreNeeded) {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = randn({4, 5, 6, 7}, dtype), w = randn({5}, dtype), b = randn({5}, dtype);
    auto plain = [](const Tensor& x, const Tensor& w, const Tensor& b) {
      return batch_norm_with_statistics(x, w, b).y;
    };
    auto gated = [](const Tensor& x, const Tensor& w, const Tensor& b) { return batch_norm_relu(x, w, b).y; };
    check_needs("batch_norm_backward", plain, x, w, b);
    check_needs("batch_norm_backward", gated, x, w, b);
  }
}

TEST_F(Rules, NormsWithFrozenInputsAreDifferentiatedAgain) {
  const Tensor x = randn({3, 4}, f64);
  auto f = [&](const std::vector<Tensor>& in) { return layer_norm(x, {4}, in[0], in[1]) * in[0]; };
  EXPECT_EQ(gradgradcheck(f, {randn({4}, f64), randn({4}, f64)}).report(), "");
  const Tensor weight = randn({3}, f64);
  auto h = [&](const std::vector<Tensor>& in) { return batch_norm_with_statistics(in[0], weight, in[1]).y * in[1]; };
  EXPECT_EQ(gradgradcheck(h, {randn({4, 3}, f64), randn({3}, f64)}).report(), "");
}

// The quotient of a product that is 0 or infinite in its dtype by a factor is not the product of the others.
TEST_F(Rules, ProductsBeyondTheirDtype) {
  const auto gradient = [](const std::vector<float>& values) {
    const Tensor x = parameter(from_vector(values));
    prod(x, 0).backward();
    return x.grad().to_vector<float>();
  };
  EXPECT_EQ(gradient({1e-30f, 1e-20f, 2, 4}), (std::vector<float>{8e-20f, 8e-30f, 0, 0}));
  EXPECT_EQ(gradient({0x1p100f, 0x1p27f, 2, 1}), (std::vector<float>{0x1p28f, 0x1p101f, 0x1p127f, INFINITY}));
  EXPECT_EQ(gradient({3, 0, 5}), (std::vector<float>{0, 15, 0}));
}

}  // namespace
}  // namespace weft
