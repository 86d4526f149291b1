// The conventions of tensors, one test each: the test's name states the rule. values_test.cc has more values.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "tests/counting.h"
#include "tests/error_of.h"
#include "weft.h"

namespace weft {
namespace {

using testing::counting;
using testing::Values;

TEST(Conventions, ViewSharesStorageAndInfersOneSize) {
  const Tensor a = counting({2, 3});
  const Tensor v = a.view({-1, 2});
  EXPECT_EQ(v.shape(), Shape({3, 2}));
  EXPECT_TRUE(v.shares_storage(a));
  EXPECT_NE(error_of([&] { (void)a.t().view({6}); }).find("reshape"), std::string::npos);
}

TEST(Conventions, SqueezeRemovesOnlyASizeOfOne) {
  EXPECT_EQ(zeros({1, 3}).squeeze(0).shape(), Shape({3}));
  EXPECT_EQ(zeros({1, 3}).squeeze(1).shape(), Shape({1, 3}));
}

TEST(Conventions, SqueezeAllRemovesEverySizeOfOneAndUnsqueezeTakesNegativeAxes) {
  EXPECT_EQ(zeros({1, 3, 1}).squeeze_all().shape(), Shape({3}));
  EXPECT_EQ(zeros({3}).unsqueeze(-1).shape(), Shape({3, 1}));
  EXPECT_EQ(zeros({3}).unsqueeze(-2).shape(), Shape({1, 3}));
  EXPECT_THROW((void)zeros({3}).unsqueeze(2), IndexError);
  EXPECT_THROW((void)zeros({3}).unsqueeze(-3), IndexError);
}

TEST(Conventions, TransposeSwapsTwoAxesWithoutACopyAndHasAGradient) {
  const Tensor a = parameter(counting({2, 3}));
  const Tensor t = a.transpose(0, 1);
  EXPECT_TRUE(t.shares_storage(a));
  EXPECT_EQ(t.to_vector<float>(), Values({1, 4, 2, 5, 3, 6}));
  (t * counting({3, 2})).sum().backward();
  EXPECT_EQ(a.grad().to_vector<float>(), Values({1, 3, 5, 2, 4, 6}));
}

TEST(Conventions, SliceIsAViewWithAnyStepAndMayBeEmpty) {
  const Tensor s = counting({5});
  EXPECT_EQ(s.slice(0, 0, 5, 2).to_vector<float>(), Values({1, 3, 5}));
  EXPECT_EQ(s.slice(0, 4, std::nullopt, -2).to_vector<float>(), Values({5, 3, 1}));
  EXPECT_TRUE(s.slice(0, 4, std::nullopt, -2).shares_storage(s));
  EXPECT_EQ(s.slice(0, 3, 3).numel(), 0);
}

TEST(Conventions, UnfoldOverlapsSoBackwardSumsAndWritesAreRefused) {
  const Tensor x = parameter(counting({5}));
  x.unfold(0, 3, 1).sum().backward();
  EXPECT_EQ(x.grad().to_vector<float>(), Values({1, 2, 3, 2, 1}));
  Tensor windows = zeros({5}).unfold(0, 3, 1);
  EXPECT_NE(error_of([&] { windows.fill_(1); }).find("overlap"), std::string::npos);
}

TEST(Conventions, BroadcastsAreStrideZeroViewsAlways) {
  const Tensor v = counting({3});
  for (const Tensor& b : {v.broadcast({2, 3}), v.broadcast_like(zeros({2, 3})), v.broadcast_left({2})}) {
    EXPECT_TRUE(b.shares_storage(v));
    EXPECT_EQ(b.strides(), Strides({0, 1}));
  }
  const Tensor scalar = full({}, 7.0);
  EXPECT_TRUE(scalar.broadcast({2, 2}).shares_storage(scalar));
}

TEST(Conventions, ReshapeCopiesOnlyWhenItMustAndKeepsHistory) {
  const Tensor a = parameter(counting({2, 3}));
  EXPECT_TRUE(a.reshape({6}).shares_storage(a));
  const Tensor copied = a.t().reshape({6});
  EXPECT_FALSE(copied.shares_storage(a));
  (copied * counting({6})).sum().backward();
  EXPECT_EQ(a.grad().to_vector<float>(), Values({1, 3, 5, 2, 4, 6}));
}

TEST(Conventions, BroadcastingAlignsRightAndTakesZeroSizes) {
  EXPECT_EQ((ones({2, 1, 3}) + ones({1, 4, 1})).shape(), Shape({2, 4, 3}));
  EXPECT_EQ((zeros({0, 3}) + ones({3})).shape(), Shape({0, 3}));
  EXPECT_EQ((zeros({0, 3}) + ones({1, 1})).shape(), Shape({0, 3}));
}

TEST(Conventions, ViewDefaultsAreRowMajorAndZeroSizesHaveNoOffsetAndNoMask) {
  EXPECT_EQ(View::contiguous({2, 3}).strides(), Strides({3, 1}));
  const View empty = View::create({0, 3}, {3, 1}, 5, View::Mask{{0, 0}, {1, 2}});
  EXPECT_EQ(empty.offset(), 0);
  EXPECT_FALSE(empty.has_mask());
}

TEST(Conventions, StridesAndMasksOfAnotherRankAreRefused) {
  EXPECT_THROW((void)View::create({2, 3}, {1}), Error);
  EXPECT_THROW((void)View::create({2, 3}, {3, 1}, 0, View::Mask{{0, 1}}), Error);
}

TEST(Conventions, NumelOfAScalarIsOneAndAxesAreChecked) {
  EXPECT_EQ(View().numel(), 1);
  const View v = View::contiguous({2, 3});
  EXPECT_EQ(v.dim(-1), 3);
  EXPECT_EQ(v.stride(-2), 3);
  EXPECT_THROW((void)v.dim(2), IndexError);
  EXPECT_THROW((void)v.stride(-3), IndexError);
}

TEST(Conventions, StridesOptIsEmptyUnderAPartialMask) {
  EXPECT_TRUE(View::contiguous({3}).strides_opt().has_value());
  const View padded = View::contiguous({3}).pad({{1, 0}});
  EXPECT_FALSE(padded.strides_opt().has_value());
  EXPECT_FALSE(padded.is_strided());
}

TEST(Conventions, LinearIndexIsUncheckedAndHasACheckedTwin) {
  const View v = View::contiguous({2, 3});
  EXPECT_EQ(v.linear_index({1, 5}), 8);
  EXPECT_THROW((void)v.linear_index_checked({1, 5}), IndexError);
  EXPECT_EQ(v.linear_index_checked({1, 2}), 5);
}

TEST(Conventions, IsValidRequiresTheRankAndIsTrueWithoutAMask) {
  const View v = View::contiguous({3});
  EXPECT_TRUE(v.is_valid({2}));
  EXPECT_THROW((void)v.is_valid({0, 0}), IndexError);
  EXPECT_FALSE(v.pad({{1, 1}}).is_valid({0}));
}

TEST(Conventions, ReshapeMergesAndSplitsTogether) {
  const View strided = View::contiguous({2, 8, 6}).slice(1, 0, 4);  // [2, 4, 6], its last two axes mergeable
  ASSERT_TRUE(strided.reshape({2, 8, 3}).has_value());
  EXPECT_EQ(strided.reshape({2, 8, 3})->strides(), Strides({48, 3, 1}));
  EXPECT_FALSE(strided.reshape({48}).has_value());
}

TEST(Conventions, AnExpandedViewHasStrideZeroAndIsNotContiguous) {
  const View expanded = View().expand({2, 2});
  EXPECT_EQ(expanded.strides(), Strides({0, 0}));
  EXPECT_FALSE(expanded.is_contiguous());
}

TEST(Conventions, ShrinkMayBeEmpty) {
  EXPECT_EQ(zeros({2, 3}).shrink({{0, 2}, {1, 1}}).shape(), Shape({2, 0}));
  EXPECT_THROW((void)zeros({3}).shrink({{2, 1}}), Error);
}

TEST(Conventions, PadIsRealInEveryOpAndRefusesNegativeAmounts) {
  const Tensor p = counting({3}).pad({{1, 2}});
  EXPECT_EQ((p + 1.0).to_vector<float>(), Values({1, 2, 3, 4, 1, 1}));
  EXPECT_EQ(matmul(p, ones({6})).item<float>(), 6);
  EXPECT_THROW((void)zeros({3}).pad({{-1, 0}}), Error);
}

TEST(Conventions, OperatorsNeverChangeOperandsAndTakeAllScalarForms) {
  const Tensor a = tensor({1.0, 2.0, 4.0});
  for (const auto& [result, expected] : std::vector<std::pair<Tensor, Values>>{{a + 1, {2, 3, 5}},
                                                                               {1 + a, {2, 3, 5}},
                                                                               {a - 1, {0, 1, 3}},
                                                                               {1 - a, {0, -1, -3}},
                                                                               {a * 2, {2, 4, 8}},
                                                                               {2 * a, {2, 4, 8}},
                                                                               {a / 2, {0.5, 1, 2}},
                                                                               {4 / a, {4, 2, 1}}})
    EXPECT_EQ(result.to_vector<float>(), expected);
  EXPECT_EQ(a.to_vector<float>(), Values({1, 2, 4}));
}

TEST(Conventions, TheErrorNamesTheOpAndBothShapes) {
  const std::string text = error_of([] { (void)(zeros({2, 3}) + zeros({2})); });
  for (const char* word : {"add", "[2, 3]", "[2]"}) EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST(Conventions, DivisionByZeroFollowsIeee754AndOperandsAreNotExpandedInMemory) {
  const Tensor q = tensor({1.0, -1.0, 0.0}) / zeros({3});
  EXPECT_EQ(q[0].item<float>(), std::numeric_limits<float>::infinity());
  EXPECT_EQ(q[1].item<float>(), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(q[2].item<float>()));
  const Tensor row = ones({1, 1000}), column = ones({1000, 1});
  reset_peak_memory();
  const int64_t before = memory_stats().live_bytes;
  const Tensor product = row * column;
  // The result and nothing of its size besides.
  EXPECT_LT(memory_stats().peak_bytes - before, 2 * product.numel() * 4);
}

TEST(Conventions, ClipRefusesAMinAboveMaxAndSqrtAndLogFollowIeee754) {
  EXPECT_EQ(tensor({-5.0, 0.5, 9.0}).clip(0.0, 1.0).to_vector<float>(), Values({0, 0.5, 1}));
  EXPECT_THROW((void)zeros({1}).clip(2.0, 1.0), Error);
  EXPECT_FALSE(attempt([] { return zeros({1}).clip(2.0, 1.0); }));
  EXPECT_TRUE(std::isnan(sqrt(tensor({-1.0})).item<float>()));
  EXPECT_EQ(log(zeros({1})).item<float>(), -std::numeric_limits<float>::infinity());
}

TEST(Conventions, AllFourOperatorsBroadcastAndReductionsTakeAxes) {
  const Tensor m = counting({2, 3}), r = tensor({1.0, 2.0, 4.0});
  EXPECT_EQ((m + r).to_vector<float>(), Values({2, 4, 7, 5, 7, 10}));
  EXPECT_EQ((m - r).to_vector<float>(), Values({0, 0, -1, 3, 3, 2}));
  EXPECT_EQ((m * r).to_vector<float>(), Values({1, 4, 12, 4, 10, 24}));
  EXPECT_EQ((m / r).to_vector<float>(), Values({1, 1, 0.75, 4, 2.5, 1.5}));
  EXPECT_EQ(m.sum(0).to_vector<float>(), Values({5, 7, 9}));
  EXPECT_EQ(m.mean(1).to_vector<float>(), Values({2, 5}));
}

TEST(Conventions, CopyingTheHandleSharesCloneCopies) {
  const Tensor a = ones({2});
  const Tensor handle = a;
  EXPECT_TRUE(handle.is_same(a));
  EXPECT_FALSE(a.clone().shares_storage(a));
}

TEST(Conventions, PrintsFourDigitsNestedBracketsAndTheDtype) {
  std::ostringstream text;
  text << tensor({{1.0, 2.0}, {3.0, 4.0}});
  EXPECT_EQ(text.str(), "Tensor([[1.0000, 2.0000],\n        [3.0000, 4.0000]], dtype=f32)");
}

TEST(Conventions, GradientsFlowAlongEveryPathOfDiamondsAndViews) {
  const Tensor x = parameter(tensor({3.0}));
  const Tensor v = x.view({1, 1});  // the same buffer, another node
  (v.sum() * x.sum() + v.sum()).backward();
  EXPECT_EQ(x.grad().item<float>(), 7);
}

TEST(Conventions, ViewsOfViewsAfterExpandReadTheirOwnMemory) {
  const Tensor scalar = full({}, 2.0);
  EXPECT_EQ(scalar.expand({2, 2}).reshape({4}).to_vector<float>(), Values({2, 2, 2, 2}));
  Tensor base = zeros({4});
  const Tensor view = base.view({2, 2})[1];
  base.fill_(3);
  EXPECT_EQ(view.to_vector<float>(), Values({3, 3}));
}

TEST(Conventions, MergeThenSplitOfAStridedTensorIsAView) {
  const Tensor x = counting({2, 8, 6}).slice(1, 0, 4);
  EXPECT_TRUE(x.view({2, 8, 3}).shares_storage(x));
}

TEST(Conventions, SlicesClampAndStepBackwards) {
  const Tensor s = counting({5});
  EXPECT_EQ(s.slice(0, -100, 100).numel(), 5);
  EXPECT_EQ(s.slice(0, std::nullopt, std::nullopt, -1).to_vector<float>(), Values({5, 4, 3, 2, 1}));
  EXPECT_EQ(s.slice(0, 4, 2).numel(), 0);
}

TEST(Conventions, GradientsAreSharedAtTiesExactAtZerosAndOneAtBounds) {
  auto gradient_at = [](const Values& at, const std::function<Tensor(const Tensor&)>& f) {
    const Tensor x = parameter(from_vector(at));
    f(x).sum().backward();
    return x.grad().to_vector<float>();
  };
  EXPECT_EQ(gradient_at({1, 3, 3}, [](const Tensor& x) { return x.max(); }), Values({0, 0.5, 0.5}));
  EXPECT_EQ(gradient_at({1, 3, 3}, [](const Tensor& x) { return x.max_with_indices(0).values; }), Values({0, 1, 0}));
  EXPECT_EQ(gradient_at({2, 0, 5}, [](const Tensor& x) { return x.prod(); }), Values({0, 10, 0}));
  EXPECT_EQ(gradient_at({2, 0, 0}, [](const Tensor& x) { return x.prod(); }), Values({0, 0, 0}));
  EXPECT_EQ(gradient_at({0}, [](const Tensor& x) { return x.pow(0.0); }), Values({0}));
  EXPECT_EQ(gradient_at({0}, [](const Tensor& x) { return x.pow(2.0); }), Values({0}));
  EXPECT_EQ(gradient_at({0, 0}, [](const Tensor& x) { return x.norm(); }), Values({0, 0}));
  EXPECT_EQ(gradient_at({0, 1, 2}, [](const Tensor& x) { return x.clip(0.0, 1.0); }), Values({1, 1, 0}));
  EXPECT_EQ(gradient_at({0}, [](const Tensor& x) { return x.sqrt(); }),
            Values({std::numeric_limits<float>::infinity()}));
}

TEST(Conventions, LossesAverageOverElementsAndStayStable) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}}), y = zeros({2, 2});
  EXPECT_FLOAT_EQ(nn::l1_loss(x, y).item<float>(), 2.5f);
  EXPECT_FLOAT_EQ(nn::mse_loss(x, y).item<float>(), 7.5f);
  EXPECT_FLOAT_EQ(nn::cross_entropy(tensor({{0.0, 1e4}}), tensor({0})).item<float>(), 1e4f);
}

TEST(Conventions, ThePaddingRowOfATableGetsNoGradient) {
  const Tensor table = parameter(ones({3, 2}));
  embedding(tensor({0, 1, 1}), table, 1).sum().backward();
  EXPECT_EQ(table.grad().to_vector<float>(), Values({1, 1, 0, 0, 0, 0}));
}

TEST(Conventions, ALinearLayersBiasHasOneValuePerOutput) {
  EXPECT_EQ(nn::Linear(3, 2).parameters()[1].shape(), Shape({2}));
}

TEST(Conventions, AdamsFirstStepIsTheLearningRate) {
  Tensor w = parameter(tensor({1.0}, f64));
  optim::Adam adam({w}, {.lr = 0.1, .eps = 0});
  (w * 3.0).sum().backward();
  adam.step();
  EXPECT_NEAR(w.item<double>(), 0.9, 1e-12);
}

TEST(Conventions, DivisionByNegativeZeroIsNegativeInfinityAndNanStays) {
  EXPECT_EQ((tensor({1.0}) / tensor({-0.0})).item<float>(), -std::numeric_limits<float>::infinity());
  const Tensor nan = zeros({1}) / zeros({1});
  EXPECT_TRUE(std::isnan((nan / zeros({1})).item<float>()));
}

TEST(Conventions, ANonContiguousViewIsSavedInLogicalOrder) {
  const std::string path = ::testing::TempDir() + "/weft_conventions.safetensors";
  const Tensor a = counting({2, 3});
  io::save_safetensors(path, {{"t", a.t()}});
  EXPECT_EQ(io::load_safetensors(path).at("t").to_vector<float>(), Values({1, 4, 2, 5, 3, 6}));
}

TEST(Conventions, AxesBelowTheFirstAreRefusedAsThoseBeyondTheLast) {
  EXPECT_THROW((void)zeros({2, 3}).sum(-3), IndexError);
  EXPECT_THROW((void)full({}, 1.0).sum(1), IndexError);  // a tensor without axes takes 0 and -1
  EXPECT_THROW((void)zeros({2}).squeeze(-2), IndexError);
}

TEST(Conventions, EveryOpReadsThePaddingOfAView) {
  const Tensor p = parameter(counting({2, 2}));
  const Tensor padded = p.pad({{1, 0}, {0, 1}});  // [[0, 0, 0], [1, 2, 0], [3, 4, 0]]
  EXPECT_EQ(padded.max(0).to_vector<float>(), Values({3, 4, 0}));
  EXPECT_EQ((padded + 1.0).prod().item<float>(), 2 * 3 * 4 * 5);
  EXPECT_EQ(padded.unfold(0, 2, 1).shape(), Shape({2, 3, 2}));
  EXPECT_EQ(cat({padded, padded}, 0).sum().item<float>(), 20);
  (padded * padded).sum().backward();
  EXPECT_EQ(p.grad().to_vector<float>(), Values({2, 4, 6, 8}));
}

}  // namespace
}  // namespace weft
