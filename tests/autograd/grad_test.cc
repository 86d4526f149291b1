// grad(): the functional form. Nothing is stored on leaves.
#include "tensor/dispatch/observer.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::leaf;
using testing::numbers;
using testing::Numbers;

class FunctionalGrad : public testing::NoLeaks {};

TEST_F(FunctionalGrad, LeavesAreUntouched) {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4}), unrelated = leaf({5});
  const std::vector<Tensor> g = grad({(a * b * unrelated).sum()}, {a, b});
  EXPECT_EQ(numbers(g[0]), Numbers({15, 20}));
  EXPECT_EQ(numbers(g[1]), Numbers({5, 10}));
  for (const Tensor& x : {a, b, unrelated}) EXPECT_FALSE(x.grad().defined());
}

TEST_F(FunctionalGrad, OfOneTensorIsOneTensor) {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4});
  EXPECT_EQ(numbers(grad((a * b).sum(), a)), Numbers({3, 4}));
  EXPECT_EQ(numbers(grad(a * b, b, {.seeds = {tensor({1.0, 10.0}, f64)}})), Numbers({1, 20}));
}

// Behind flatten, too, activations that lie channels-last get gradients that do: mixed orders cost every op below.
TEST_F(FunctionalGrad, ComesBackInTheOrderOfWhatWasCopied) {
  const Tensor x = parameter(rand({2, 4, 5, 3}, f64));
  const Tensor image = (x * 1.0).permute({0, 3, 1, 2});  // (2, 3, 4, 5), channels innermost in memory
  const Tensor g = grad({(image.flatten(1) * rand({2, 60}, f64)).sum()}, {image})[0];
  EXPECT_EQ(g.shape(), image.shape());
  EXPECT_EQ(g.strides(), image.strides());
}

TEST_F(FunctionalGrad, InputsMayBeResults) {
  const Tensor a = leaf({1, 2});
  const Tensor middle = a * 3.0;
  const Tensor y = (middle * middle).sum();
  const std::vector<Tensor> g = grad({y}, {middle, a, y});
  EXPECT_EQ(numbers(g[0]), Numbers({6, 12}));
  EXPECT_EQ(numbers(g[1]), Numbers({18, 36}));
  EXPECT_EQ(numbers(g[2]), Numbers({1}));
}

TEST_F(FunctionalGrad, OnlyThePathsToTheInputsAreRunAndFreed) {
  const Tensor a = leaf({2}), b = leaf({3});
  Tensor side = b * b;
  bool ran = false;
  side.register_hook([&](const Tensor&) { ran = true; });
  const Tensor y = (a * a + side).sum();
  EXPECT_EQ(numbers(grad({y}, {a})[0]), Numbers({4}));
  EXPECT_FALSE(ran);
  side.sum().backward();  // its part was not freed
  EXPECT_EQ(numbers(b.grad()), Numbers({6}));
}

TEST_F(FunctionalGrad, WhatIsOlderThanTheInputsIsNotVisited) {
  const Tensor a = leaf({2});
  Tensor x = a;
  for (int i = 0; i < 100; ++i) x = tanh(x);
  const Tensor late = leaf({3}), y = (x * late.sum()).sum();
  EXPECT_EQ(autograd::nodes_behind({&testing::node(y)}, testing::node(x).sequence()).size(), 6u);
  EXPECT_EQ(autograd::nodes_behind({&testing::node(y)}).size(), 6u + 100);
  EXPECT_EQ(numbers(grad({y}, {late}, {.retain_graph = true})[0]), Numbers({x.sum().item<double>()}));
  EXPECT_EQ(numbers(grad({y}, {x}, {.retain_graph = true})[0]), Numbers({3}));
  EXPECT_NE(numbers(grad({y}, {a}, {.retain_graph = true})[0]), Numbers({0}));
  const Tensor newer = leaf({1});
  EXPECT_FALSE(grad({y}, {newer}, {.allow_unused = true})[0].defined());
}

// A rule computes only the gradients that grad() was asked for: that of the input needs one product, not two.
TEST_F(FunctionalGrad, InputsThatAreNotAskedForCostNothing) {
  struct Products final : Observer {
    int count = 0;
    void begin(const ObserverEvent& event) override {
      count += event.kind == ObserverEvent::Kind::op && event.name == "matmul";
    }
    void end(const ObserverEvent&) override {}
  } products;
  const Tensor x = parameter(rand({3, 4}, f64)), w = parameter(rand({4, 5}, f64));
  const Tensor y = matmul(x, w).sum();
  const ObserverScope scope(products);
  const Tensor g = grad({y}, {x}, {.retain_graph = true})[0];
  EXPECT_EQ(products.count, 1);
  EXPECT_EQ(numbers(g), numbers(grad({y}, {x, w})[0]));
  EXPECT_EQ(products.count, 3);
}

TEST_F(FunctionalGrad, AnInputAskedForTwiceIsGivenTwice) {
  const Tensor a = leaf({2});
  const std::vector<Tensor> g = grad({(a * a).sum()}, {a, a});
  EXPECT_EQ(numbers(g[0]), Numbers({4}));
  EXPECT_EQ(numbers(g[1]), Numbers({4}));
}

TEST_F(FunctionalGrad, SeveralOutputsAreSummedWithTheirSeeds) {
  const Tensor a = leaf({1, 2});
  const std::vector<Tensor> g =
      grad({a * 2.0, a * a}, {a}, {.seeds = {tensor({1.0, 10.0}, f64), tensor({100.0, 1000.0}, f64)}});
  EXPECT_EQ(numbers(g[0]), Numbers({202, 4020}));
}

TEST_F(FunctionalGrad, SeedsOfTheWrongShapeOrNumberAreErrors) {
  const Tensor a = leaf({1, 2});
  EXPECT_SAYS(testing::error_as<GradientError>([&] { grad({a * 2.0}, {a}, {.seeds = {ones({3}, f64)}}); }),
              "the seed has shape [3], the tensor has [2]");
  EXPECT_SAYS(testing::error_as<GradientError>([&] {
                grad({a * 2.0}, {a}, {.seeds = {Tensor(), Tensor()}});
              }),
              "2 seeds for 1 outputs");
  EXPECT_SAYS(testing::error_as<GradientError>([&] { grad({a * 2.0}, {a}); }), "is not a scalar");
}

TEST_F(FunctionalGrad, AnUnusedInputIsAnErrorUnlessAllowed) {
  const Tensor a = leaf({1, 2}), unused = leaf({3}), plain = ones({2}, f64);
  auto y = [&] { return (a * a).sum(); };
  EXPECT_SAYS(testing::error_as<GradientError>([&] {
                grad({y()}, {a, unused});
              }),
              "input 1 of shape [1] was not used to compute the outputs; use allow_unused");
  EXPECT_SAYS(testing::error_as<GradientError>([&] { grad({y()}, {plain}); }),
              "input 0 of shape [2] does not require a gradient");
  const std::vector<Tensor> g = grad({y()}, {a, unused, plain}, {.allow_unused = true});
  EXPECT_TRUE(g[0].defined());
  EXPECT_FALSE(g[1].defined());
  EXPECT_FALSE(g[2].defined());
}

TEST_F(FunctionalGrad, WhereAPathIsFlatTheGradientIsZero) {
  const Tensor a = leaf({-1, 2});
  const auto slope = [&] { return grad({relu(a).sum()}, {a}, {.create_graph = true})[0]; };
  EXPECT_EQ(numbers(grad({slope().sum()}, {a})[0]), Numbers({0, 0}));
  EXPECT_FALSE(grad({slope().sum()}, {a}, {.allow_unused = true})[0].defined());
}

TEST_F(FunctionalGrad, TheGraphIsFreedUnlessRetained) {
  const Tensor a = leaf({3});
  const Tensor y = (a * a).sum();
  EXPECT_EQ(numbers(grad({y}, {a}, {.retain_graph = true})[0]), Numbers({6}));
  EXPECT_EQ(numbers(grad({y}, {a})[0]), Numbers({6}));
  EXPECT_SAYS(testing::error_as<GradientError>([&] { grad({y}, {a}); }), "a second time");
}

TEST_F(FunctionalGrad, GradientsHaveHistoryOnlyWithCreateGraph) {
  const Tensor a = leaf({3});
  const Tensor y = (a * a).sum();
  EXPECT_FALSE(grad({y}, {a}, {.retain_graph = true})[0].requires_grad());
  EXPECT_TRUE(grad({y}, {a}, {.create_graph = true})[0].requires_grad());
}

TEST_F(FunctionalGrad, AGradientPenaltyTrains) {
  // d/dw of |d(w x^2)/dx|^2 = 8 w x^2
  const Tensor w = leaf({1.5}), x = leaf({2});
  const Tensor slope = grad({(w * x * x).sum()}, {x}, {.create_graph = true})[0];
  (slope * slope).sum().backward();
  EXPECT_NEAR(w.grad().item<double>(), 8 * 1.5 * 4, 1e-12);
}

TEST_F(FunctionalGrad, TheGradientOfAGradientInItsSeed) {
  const Tensor a = leaf({3}), seed = leaf({1});
  const Tensor g = grad({a * a}, {a}, {.create_graph = true, .seeds = {seed}})[0];
  EXPECT_EQ(numbers(grad({g.sum()}, {seed})[0]), Numbers({6}));
}

TEST_F(FunctionalGrad, AnInputOfEveryOrderInOneCall) {
  const Tensor a = leaf({2});
  const Tensor b = a * a, c = b * b;
  const std::vector<Tensor> g = grad({c.sum()}, {a, b, c}, {.create_graph = true});
  EXPECT_EQ(numbers(g[0]), Numbers({32}));
  EXPECT_EQ(numbers(grad({g[0].sum()}, {a})[0]), Numbers({48}));
}

}  // namespace
}  // namespace weft
