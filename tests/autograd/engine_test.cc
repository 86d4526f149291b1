// The engine: accumulation, order, seeds, freeing, modes.
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::leaf;
using testing::numbers;
using testing::Numbers;

class Engine : public testing::NoLeaks {};

TEST_F(Engine, ALeafStartsWithoutAGradient) {
  const Tensor w = leaf({1, 2});
  EXPECT_TRUE(w.requires_grad());
  EXPECT_TRUE(w.is_leaf());
  EXPECT_FALSE(w.grad().defined());
}

TEST_F(Engine, GradientsAccumulateOverRunsUntilZeroGrad) {
  Tensor w = leaf({1, 2, 3});
  (w * w).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({2, 4, 6}));
  (w * w).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({4, 8, 12}));
  w.zero_grad();
  EXPECT_FALSE(w.grad().defined());
  w.sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({1, 1, 1}));
}

TEST_F(Engine, ADiamondCollectsFromBothSides) {
  const Tensor w = leaf({1, 2, 3});
  const Tensor shared = w * 2.0;
  (shared * shared + shared).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({10, 18, 26}));
}

TEST_F(Engine, ADiamondOverViewsOfOneStorageIsKeyedByNode) {
  // All of these share one buffer: a traversal keyed by memory would lose some of them.
  const Tensor w = leaf({1, 2, 3, 4});
  const Tensor y = w * 1.0;
  const Tensor a = y.view({2, 2}), b = y.view({2, 2}).t(), c = y.slice(0, 1, 3), d = a.t();
  (a * 1.0 + b * 10.0 + d * 100.0).sum().backward({.retain_graph = true});
  EXPECT_EQ(numbers(w.grad()), Numbers({111, 111, 111, 111}));
  (c * 7.0).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({111, 118, 118, 111}));
}

TEST_F(Engine, SharedSubexpressionsInLayersDoubleExactly) {
  const Tensor w = leaf({1});
  Tensor y = w;
  for (int i = 0; i < 20; ++i) y = y + y;  // 2^20 paths, 20 nodes
  y.backward();
  EXPECT_EQ(w.grad().item<double>(), 1048576.0);
}

TEST_F(Engine, OneTensorOnBothSidesOfAnOp) {
  const Tensor w = leaf({3, -2});
  (w / w + w * w - (w - w)).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({6, -4}));
}

TEST_F(Engine, PathsOfDifferentLengthWaitForEachOther) {
  const Tensor w = leaf({2});
  Tensor y = w * w;
  Tensor longer = y;
  for (int i = 0; i < 5; ++i) longer = longer * 1.0;
  int calls = 0;
  y.register_hook([&](const Tensor& g) {
    ++calls;
    EXPECT_EQ(g.item<double>(), 1.0 + 8.0);  // complete: the long path and d(y^2)/dy
  });
  (longer + y * y).sum().backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(w.grad().item<double>(), 36.0);
}

TEST_F(Engine, SeveralRootsAreRunTogether) {
  const Tensor w = leaf({1, 2});
  const Tensor y = w * w;
  backward({y.sum(), y[0], w}, {Tensor(), Tensor(), tensor({10.0, 20.0}, f64)});
  EXPECT_EQ(numbers(w.grad()), Numbers({2 + 2 + 10, 4 + 20}));
}

TEST_F(Engine, TheSameRootTwiceCountsTwice) {
  const Tensor w = leaf({3});
  const Tensor y = (w * w).sum();
  backward({y, y});
  EXPECT_EQ(numbers(w.grad()), Numbers({12}));
}

TEST_F(Engine, ALeafCanBeTheRoot) {
  const Tensor w = parameter(full({}, 2.0, f64));
  w.backward();
  w.backward();
  EXPECT_EQ(w.grad().item<double>(), 2.0);
}

TEST_F(Engine, ASeedWeighsTheResult) {
  const Tensor w = leaf({1, 2, 3});
  (w * w).backward(tensor({1.0, 10.0, 100.0}, f64));
  EXPECT_EQ(numbers(w.grad()), Numbers({2, 40, 600}));
}

TEST_F(Engine, ASeedIsCastToTheDtypeOfTheResult) {
  const Tensor w = leaf({1, 2});
  (w * 3.0).backward(tensor({1, 2}));
  EXPECT_EQ(w.grad().dtype(), f64);
  EXPECT_EQ(numbers(w.grad()), Numbers({3, 6}));
}

TEST_F(Engine, ASeedIsLeftAsItIs) {
  const Tensor w = leaf({1, 2});
  const Tensor seed = tensor({5.0, 6.0}, f64);
  const Tensor y = w + w;
  y.backward(seed);
  w.backward(seed);  // the leaf is the root: its gradient must not be the seed's memory
  EXPECT_EQ(numbers(seed), Numbers({5, 6}));
  EXPECT_FALSE(w.grad().shares_storage(seed));
  EXPECT_EQ(numbers(w.grad()), Numbers({15, 18}));
}

TEST_F(Engine, PaddedSeedsOfViewsOfOneTensor) {
  const Tensor w = leaf({0, 0, 0, 0, 0, 0, 0, 0});
  const Tensor seed = Tensor::from(std::vector<float>{1, 2, 3, 4, 5}).pad({{0, 2}});
  backward({w.slice(0, 1), w.slice(0, 0, 7)}, {seed, seed});
  EXPECT_EQ(numbers(w.grad()), Numbers({1, 3, 5, 7, 9, 5, 0, 0}));
}

TEST_F(Engine, ASeedOfAnotherShapeIsAnErrorWithBothShapes) {
  const Tensor w = leaf({1, 2, 3});
  const std::string text = testing::error_as<GradientError>([&] { (w * 2.0).backward(ones({2}, f64)); });
  EXPECT_EQ(text, "backward([3] f64): the seed has shape [2], the tensor has [3]");
  EXPECT_FALSE(w.grad().defined());
}

TEST_F(Engine, ASeedIsNotBroadcast) {
  const Tensor w = leaf({1, 2, 3});
  EXPECT_NE(error_of([&] { (w * 2.0).backward(ones({1}, f64)); }), "");
  EXPECT_NE(error_of([&] { (w * 2.0).backward(ones({}, f64)); }), "");
}

TEST_F(Engine, ANumberOfSeedsThatDiffersIsAnError) {
  const Tensor w = leaf({1, 2, 3});
  EXPECT_SAYS(testing::error_as<GradientError>([&] {
                backward({w.sum()}, {Tensor(), Tensor()});
              }),
              "2 seeds for 1 tensors");
}

TEST_F(Engine, ANonScalarWithoutASeedIsAnError) {
  const Tensor w = leaf({1, 2, 3});
  const std::string text = testing::error_as<GradientError>([&] { (w * 2.0).backward(); });
  EXPECT_EQ(
      text,
      "backward([3] f64): a tensor of shape [3] is not a scalar: pass the gradient to start from, or reduce it, e.g. "
      "with sum()");
}

TEST_F(Engine, OneElementOfAnyRankIsAScalar) {
  const Tensor w = parameter(full({1, 1, 1}, 3.0, f64));
  (w * w).backward();
  EXPECT_EQ(w.grad().shape(), Shape({1, 1, 1}));
  EXPECT_EQ(w.grad().item<double>(), 6.0);
}

TEST_F(Engine, AnEmptyTensorHasAnEmptyGradient) {
  const Tensor w = parameter(zeros({0, 3}, f64));
  (w * 2.0).sum().backward();
  EXPECT_EQ(w.grad().shape(), Shape({0, 3}));
}

TEST_F(Engine, ATensorWithoutHistoryIsAnError) {
  EXPECT_EQ(testing::error_as<GradientError>([] { ones({}).backward(); }),
            "backward([] f32): the tensor has no history: nothing it was computed from requires a gradient (see "
            "parameter()), it was computed under NoGrad, or it is a gradient that was taken without create_graph");
  EXPECT_EQ(error_of([] { Tensor().backward(); }).find("backward("), 0u);
}

TEST_F(Engine, ASecondBackwardIsAnErrorThatNamesRetainGraph) {
  const Tensor w = leaf({2});
  const Tensor loss = (w * w).sum();
  loss.backward();
  EXPECT_SAYS(testing::error_as<GradientError>([&] { loss.backward(); }), "use retain_graph");
  EXPECT_EQ(numbers(w.grad()), Numbers({4}));
}

TEST_F(Engine, OpsThatSaveNothingRunAsOftenAsWanted) {
  Tensor w = leaf({2});
  for (const Tensor& loss : {w + w, -w, w.view({1, 1}), w * 2.0, w.sum(), w.clone(), w.slice(0, 0, 1)}) {
    loss.backward();
    const double once = w.grad().item<double>();
    loss.backward();
    EXPECT_EQ(w.grad().item<double>(), 2 * once);
    w.zero_grad();
  }
}

TEST_F(Engine, ACastThatIsKeptServesManySteps) {
  // As a layer that keeps its weight in 16 bits does: the product is new in each step, the cast is not.
  const Tensor w = parameter(full({2}, 3.0, f32));
  const Tensor narrow = w.to(bf16);
  for (int step = 0; step < 3; ++step) (narrow * ones({2}, bf16)).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({3, 3}));
}

TEST_F(Engine, AnEmptyTensorThatWasSavedIsFreedLikeAnyOther) {
  const Tensor w = parameter(zeros({0, 3}, f64));
  const Tensor loss = (w * w).sum();
  loss.backward();
  EXPECT_SAYS(error_of([&] { loss.backward(); }), "`mul` a second time: what it saved was freed");
}

TEST_F(Engine, ASecondBackwardThroughASharedPartIsAnError) {
  const Tensor w = leaf({2});
  const Tensor shared = w * w;
  (shared * 2.0).sum().backward();
  EXPECT_SAYS(error_of([&] { (shared * 3.0).sum().backward(); }), "`mul` a second time");
}

TEST_F(Engine, RetainGraphRunsAsOftenAsWanted) {
  const Tensor w = leaf({2});
  const Tensor loss = (w * w).sum();
  for (int i = 0; i < 3; ++i) loss.backward({.retain_graph = true});
  loss.backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({16}));
  EXPECT_NE(error_of([&] { loss.backward(); }), "");
}

TEST_F(Engine, BackwardFreesWhatWasSaved) {
  const Tensor w = parameter(ones({1000}, f64));
  const Tensor y = (w * 2.0).exp();
  EXPECT_EQ(testing::node(y).saved_bytes(), 8000);
  y.sum().backward();
  EXPECT_EQ(testing::node(y).saved_bytes(), 0);
}

TEST_F(Engine, NoGradRecordsNothingAndNests) {
  const Tensor w = leaf({2});
  {
    NoGrad guard;
    EXPECT_FALSE(is_recording());
    EXPECT_FALSE((w * w).requires_grad());
    {
      EnableGrad inner;
      EXPECT_TRUE((w * w).requires_grad());
    }
    EXPECT_FALSE((w * w).requires_grad());
    { NoGrad again; }
    EXPECT_FALSE(is_recording());
  }
  EXPECT_TRUE(is_recording());
}

TEST_F(Engine, NoGradEndsWhenAnErrorLeavesTheScope) {
  try {
    NoGrad guard;
    throw Error("out");
  } catch (const Error&) {
  }
  EXPECT_TRUE(is_recording());
}

TEST_F(Engine, BackwardRestoresTheModeAlsoAfterAnError) {
  const Tensor w = leaf({2});
  Tensor y = w * w;
  y.register_hook([](const Tensor&) -> Tensor { throw Error("from the hook"); });
  EXPECT_EQ(error_of([&] { y.backward(); }), "a hook of `mul`: from the hook");
  EXPECT_TRUE(is_recording());
}

TEST_F(Engine, BackwardWorksUnderNoGrad) {
  const Tensor w = leaf({2});
  const Tensor loss = (w * w).sum();
  NoGrad guard;
  loss.backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({4}));
  EXPECT_FALSE(is_recording());
}

TEST_F(Engine, GradientsOfAPlainBackwardHaveNoHistory) {
  const Tensor w = leaf({2});
  (w * w).sum().backward();
  EXPECT_FALSE(w.grad().requires_grad());
}

TEST_F(Engine, ThirdOrderByCreateGraph) {
  const Tensor x = parameter(full({}, 2.0, f64));
  const Tensor y = x * x * x * x;
  const Tensor d1 = grad({y}, {x}, {.create_graph = true})[0];
  const Tensor d2 = grad({d1}, {x}, {.create_graph = true})[0];
  const Tensor d3 = grad({d2}, {x})[0];
  EXPECT_EQ(d1.item<double>(), 32.0);
  EXPECT_EQ(d2.item<double>(), 48.0);
  EXPECT_EQ(d3.item<double>(), 48.0);
}

TEST_F(Engine, BackwardWithCreateGraphCanBeDifferentiatedAgain) {
  Tensor x = parameter(full({}, 3.0, f64));
  (x * x * x).backward({.create_graph = true});
  const Tensor first = x.grad();
  EXPECT_EQ(first.item<double>(), 27.0);
  EXPECT_TRUE(first.requires_grad());
  x.zero_grad();
  first.backward();
  EXPECT_EQ(x.grad().item<double>(), 18.0);
  x.zero_grad();
}

TEST_F(Engine, CreateGraphKeepsTheGraph) {
  Tensor x = parameter(full({}, 3.0, f64));
  const Tensor y = x * x;
  y.backward({.create_graph = true});
  y.backward({.create_graph = true});
  EXPECT_EQ(x.grad().item<double>(), 12.0);
  x.zero_grad();
}

TEST_F(Engine, AGradientWithHistoryTakesAPlainOneOnTopAndStaysUsable) {
  Tensor x = parameter(full({}, 3.0, f64));
  (x * x).backward({.create_graph = true});
  (x * 5.0).backward();
  EXPECT_EQ((x.grad() * 1.0).item<double>(), 11.0);
  x.zero_grad();
}

TEST_F(Engine, MixedSecondDerivativesAgree) {
  const Tensor a = parameter(full({}, 1.5, f64)), b = parameter(full({}, 0.5, f64));
  const Tensor y = sin(a * b) + a * a * b;
  const std::vector<Tensor> first = grad({y}, {a, b}, {.create_graph = true});
  const Tensor ab = grad({first[0]}, {b}, {.retain_graph = true})[0];
  const Tensor ba = grad({first[1]}, {a})[0];
  EXPECT_NEAR(ab.item<double>(), ba.item<double>(), 1e-15);
}

TEST_F(Engine, OutputsThatNobodyUsedGiveUndefinedGradients) {
  const Tensor w = parameter(tensor({{1.0, 5.0}, {7.0, 2.0}}, f64));
  const ValuesAndIndices top = w.max_with_indices(1);
  EXPECT_FALSE(top.indices.requires_grad());
  top.values.sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({0, 1, 1, 0}));
}

TEST_F(Engine, AnAbsentBiasIsNoInput) {
  const Tensor x = parameter(ones({1, 1, 3, 3}, f64)), w = parameter(ones({1, 1, 3, 3}, f64));
  conv2d(x, w).sum().backward();
  EXPECT_EQ(w.grad().sum().item<double>(), 9.0);
  const Tensor bias = parameter(zeros({1}, f64));
  conv2d(x.detach(), w.detach(), bias, {.padding = 1}).sum().backward();
  EXPECT_EQ(bias.grad().item<double>(), 9.0);
}

TEST_F(Engine, TheGradientOfAPromotedInputHasItsOwnDtype) {
  const Tensor narrow = parameter(ones({3}, f32)), wide = parameter(full({3}, 2.0, f64));
  (narrow * wide).sum().backward();
  EXPECT_EQ(narrow.grad().dtype(), f32);
  EXPECT_EQ(wide.grad().dtype(), f64);
  EXPECT_EQ(numbers(narrow.grad()), Numbers({2, 2, 2}));
}

TEST_F(Engine, TheGradientOfABroadcastInputHasItsOwnShape) {
  const Tensor a = parameter(ones({2, 1}, f64)), b = parameter(ones({3}, f64)), c = parameter(ones({}, f64));
  (a * b + c).sum().backward();
  EXPECT_EQ(a.grad().shape(), Shape({2, 1}));
  EXPECT_EQ(numbers(a.grad()), Numbers({3, 3}));
  EXPECT_EQ(numbers(b.grad()), Numbers({2, 2, 2}));
  EXPECT_EQ(c.grad().item<double>(), 6.0);
}

}  // namespace
}  // namespace weft
