// When a leaf's gradient is complete and announced.
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::leaf;
using testing::numbers;
using testing::Numbers;
using Names = std::vector<std::string>;

class Order : public testing::NoLeaks {
 protected:
  /// `x`, whose arrival in backward (results) or whose complete gradient (leaves) is noted in `seen`.
  Tensor noted(Tensor x, const std::string& name) {
    if (x.is_leaf())
      x.register_post_accumulate_grad_hook([this, name](const Tensor&) { seen.push_back(name); });
    else
      x.register_hook([this, name](const Tensor&) { seen.push_back(name); });
    return x;
  }
  Names seen;
};

TEST_F(Order, ALayersParametersAreAnnouncedBeforeTheLayerBelowRuns) {
  constexpr int kLayers = 5;
  std::vector<Tensor> weights, biases;
  for (int i = 0; i < kLayers; ++i) {
    weights.push_back(noted(parameter(rand({3, 3}, f64)), text("w", i)));
    biases.push_back(noted(parameter(rand({3}, f64)), text("b", i)));
  }
  Tensor x = rand({2, 3}, f64);
  Names right;
  for (int i = 0; i < kLayers; ++i) {
    const auto layer = static_cast<size_t>(i);
    x = noted(tanh(matmul(x, weights[layer])) + biases[layer], text("layer", i));
    const Names last = {text("layer", i), text("b", i), text("w", i)};
    right.insert(right.begin(), last.begin(), last.end());
  }
  x.sum().backward();
  EXPECT_EQ(seen, right);
}

TEST_F(Order, TheHookSeesTheSumOverRuns) {
  Tensor w = leaf({1, 2});
  std::vector<Numbers> sums;
  w.register_post_accumulate_grad_hook([&](const Tensor& sum) {
    sums.push_back(numbers(sum));
    EXPECT_TRUE(sum.is_same(w.grad()));
  });
  (w * 3.0 + w).sum().backward();
  (w * 5.0).sum().backward();
  EXPECT_EQ(sums, std::vector<Numbers>({{4, 4}, {9, 9}}));
}

TEST_F(Order, WhatTheHookWritesStays) {
  Tensor w = leaf({1, 2});
  w.register_post_accumulate_grad_hook([](const Tensor& sum) { Tensor(sum).mul_(0.5); });
  (w * 4.0).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({2, 2}));
}

TEST_F(Order, TheHookMayTakeAStepAndDropTheGradient) {
  const Tensor w = leaf({1, 2}), v = leaf({3, 4});
  Tensor inside = w.detach();
  Tensor of_w = w;
  const Tensor product = w * v;
  HookHandle handle = of_w.register_post_accumulate_grad_hook([&](const Tensor& sum) {
    inside.sub_(sum * 0.1);
    of_w.set_grad(Tensor());
  });
  (product * product).sum().backward();
  EXPECT_FALSE(w.grad().defined());
  EXPECT_NEAR(w[0].item<double>(), 1 - 0.1 * 2 * 3 * 3, 1e-12);
  handle.remove();
}

TEST_F(Order, APlainHookRunsBeforeIt) {
  Tensor w = leaf({1});
  std::vector<double> values;
  w.register_post_accumulate_grad_hook([&](const Tensor& sum) { values.push_back(sum.item<double>()); });
  w.register_hook([](const Tensor& g) { return g * 10.0; });
  w.sum().backward();
  EXPECT_EQ(values, std::vector<double>({10}));
}

TEST_F(Order, ItIsTakenOffByItsHandle) {
  Tensor w = leaf({1});
  int calls = 0;
  HookHandle handle = w.register_post_accumulate_grad_hook([&](const Tensor&) { ++calls; });
  w.sum().backward();
  handle.remove();
  w.sum().backward();
  EXPECT_EQ(calls, 1);
}

TEST_F(Order, LeavesOnlyTakeIt) {
  Tensor y = leaf({1}) * 2.0, plain = ones({1});
  const auto hook = [](const Tensor&) {};
  EXPECT_SAYS(testing::error_as<GradientError>([&] { y.register_post_accumulate_grad_hook(hook); }), "not a leaf");
  EXPECT_SAYS(testing::error_as<GradientError>([&] { plain.register_post_accumulate_grad_hook(hook); }),
              "does not require a gradient");
}

TEST_F(Order, ASharedParameterWaitsForItsOldestUse) {
  const Tensor w = noted(leaf({2}), "w"), v = noted(leaf({3}), "v");
  Tensor first = noted(w * 1.0, "first"), second = noted(first * v, "second");
  (second * w).backward();
  EXPECT_EQ(seen, Names({"second", "v", "first", "w"}));
  EXPECT_EQ(numbers(w.grad()), Numbers({12}));
}

struct OnlyFirst : autograd::Function<OnlyFirst> {
  static Tensor forward(autograd::Context&, const Tensor& a, const Tensor& b) { return a + b; }
  static std::vector<Tensor> backward(autograd::Context&, const Tensor& g) { return {g, Tensor()}; }
};

TEST_F(Order, ABranchWithoutGradientsDoesNotKeepALeafToTheEnd) {
  const Tensor w = noted(leaf({2}), "w"), v = noted(leaf({3}), "v"), u = noted(leaf({5}), "u");
  Tensor bottom = noted(v * 1.0, "bottom");
  Tensor dead = w * u;  // nothing flows here, nor to u
  Tensor top = noted(OnlyFirst::apply(bottom * w, dead), "top");
  top.backward();
  EXPECT_EQ(seen, Names({"top", "w", "bottom", "v"}));
  EXPECT_EQ(numbers(w.grad()), Numbers({3}));
  EXPECT_FALSE(u.grad().defined());
}

TEST_F(Order, RootsOfSeveralGraphsAndLeavesAsRoots) {
  const Tensor w = noted(leaf({2}), "w"), v = noted(parameter(full({}, 3.0, f64)), "v");
  Tensor old = noted(w * 2.0, "old"), young = noted(w * 3.0, "young");
  backward({old, young, v, v});
  EXPECT_EQ(seen, Names({"v", "young", "old", "w"}));
  EXPECT_EQ(numbers(w.grad()), Numbers({5}));
  EXPECT_EQ(v.grad().item<double>(), 2.0);
}

TEST_F(Order, HoldsUnderRetainGraphAndCreateGraph) {
  Tensor w = noted(leaf({2}), "w"), v = noted(leaf({3}), "v");
  Tensor below = noted(w * w, "below"), above = noted(below * v * v, "above");
  const Names right = {"above", "v", "below", "w"};
  for (const BackwardOptions& options :
       {BackwardOptions{.retain_graph = true}, BackwardOptions{.create_graph = true}}) {
    seen.clear();
    above.backward(options);
    EXPECT_EQ(seen, right);
  }
  EXPECT_EQ(numbers(w.grad()), Numbers({72}));
  w.zero_grad(), v.zero_grad();
}

TEST_F(Order, GradAnnouncesNothingAndFindsWhatIsWanted) {
  const Tensor w = noted(leaf({2}), "w"), v = noted(leaf({3}), "v");
  const Tensor middle = w * v;
  const std::vector<Tensor> found = grad({(middle * w * v).sum()}, {middle, w});
  EXPECT_EQ(numbers(found[0]), Numbers({6}));
  EXPECT_EQ(numbers(found[1]), Numbers({36}));
  EXPECT_EQ(seen, Names());
  EXPECT_FALSE(v.grad().defined());
}

TEST_F(Order, AFrozenLeafIsNotAnnounced) {
  Tensor w = noted(leaf({2}), "w");
  const Tensor loss = w * 2.0;
  w.requires_grad_(false);
  loss.backward();
  EXPECT_EQ(seen, Names());
}

TEST_F(Order, AHookMayRunBackwardOnTheSameGraph) {
  const Tensor w = noted(leaf({2}), "w"), v = noted(leaf({3}), "v");
  const Tensor below = w * w;
  Tensor above = below * v;
  Numbers inner;
  above.register_hook([&](const Tensor&) {
    EnableGrad guard;
    inner = numbers(grad({below * 2.0}, {w}, {.retain_graph = true})[0]);
  });
  above.backward();
  EXPECT_EQ(inner, Numbers({8}));
  EXPECT_EQ(seen, Names({"v", "w"}));
  EXPECT_EQ(numbers(w.grad()), Numbers({12}));
}

TEST_F(Order, AnErrorInTheHookNamesTheLeaf) {
  Tensor w = leaf({1, 2});
  w.set_name("head.weight");
  w.register_post_accumulate_grad_hook([](const Tensor& sum) { Tensor(sum).add_(ones({3}, f64)); });
  EXPECT_EQ(error_of([&] { w.sum().backward(); }).find("a hook of `head.weight`: "), 0u);
}

}  // namespace
}  // namespace weft
