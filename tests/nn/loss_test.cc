// Losses at their edges: ignored targets, infinite distances. Their usual values are in the golden tests.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/autograd.h"
#include "nn/layers/adaptive_softmax.h"
#include "nn/losses/layers.h"
#include "tensor/functions_all.h"
#include "tensor/memory/allocator.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

TEST(Losses, TakeTheirReductionAsAnOptionToo) {
  const Tensor x = tensor({1.0, -2.0}), y = tensor({-1.0, 1.0});
  EXPECT_TRUE(equal(mse_loss(x, y, {.reduction = Reduction::sum}), mse_loss(x, y, Reduction::sum)));
  EXPECT_TRUE(equal(l1_loss(x, y, {.reduction = Reduction::none}), l1_loss(x, y, Reduction::none)));
  EXPECT_TRUE(equal(soft_margin_loss(x, y, {.reduction = Reduction::sum}), soft_margin_loss(x, y, Reduction::sum)));
  EXPECT_TRUE(equal(MSELoss({.reduction = Reduction::sum})(x, y), MSELoss(Reduction::sum)(x, y)));
  EXPECT_EQ(MSELoss()(x, y).item(), 6.5);
}

using Numbers = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Numbers gradient_of(const Tensor& loss, const Tensor& x) { return grad({loss}, {x})[0].to_vector<double>(); }

TEST(Losses, OfManyElementsInF16AreTheirMean) {
  const Tensor x = full({100000}, 1.0, f16), zero = zeros({100000}, f16);
  EXPECT_EQ(mse_loss(x, zero).item<double>(), 1.0);
  EXPECT_EQ(l1_loss(x, zero).item<double>(), 1.0);
  EXPECT_NEAR(bce_with_logits(zero, x).item<double>(), std::log(2.0), 0x1p-12);  // half a unit of f16
}

TEST(Losses, OfManyClassesOrRowsInF16AreTheirMean) {
  const Tensor x = full({1, 10000}, 10, f16), target = zeros({1}, i64);
  EXPECT_EQ(multi_margin_loss(x, target, {.margin = 20}).item<double>(), 20);
  EXPECT_EQ(kl_div(full({10000}, -8, f16), ones({10000}, f16), {.batch_mean = true}).item<double>(), 8);
}

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

TEST(Losses, OfMarginsHaveAGradientWhereTheMarginIsJustMet) {
  // PyTorch's convention: clamp_min(0) lets the gradient at 0 through.
  const Tensor x = parameter(tensor({1.0, 0.5, 2.0}, f64)), none = zeros({3}, f64), ones_ = ones({3}, f64);
  EXPECT_EQ(gradient_of(hinge_embedding_loss(x, -ones_, {.reduction = Reduction::sum}), x), Numbers({-1, -1, 0}));
  EXPECT_EQ(gradient_of(margin_ranking_loss(x, none, ones_, {.margin = 1, .reduction = Reduction::sum}), x),
            Numbers({-1, -1, 0}));
  const Tensor a = parameter(tensor({{1.0, 0.0}}, f64)), p = tensor({{0.0, 0.0}}, f64), n = tensor({{3.0, 0.0}}, f64);
  const Numbers g = gradient_of(triplet_margin_loss(a, p, n, {.margin = 1, .eps = 0}), a);
  EXPECT_EQ(g, Numbers({2, 0}));
  const Tensor c = parameter(tensor({{1.0, 0.0}}, f64)), d = tensor({{0.0, 1.0}}, f64);
  EXPECT_NEAR(gradient_of(cosine_embedding_loss(c, d, tensor({-1})), c)[1], 1, 1e-6);
}

TEST(Losses, OfInfiniteLogitsAreInfiniteWhereTheyAreWrong) {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = tensor({kInfinity, -kInfinity}, dtype), y = tensor({0.0, 1.0}, dtype);
    EXPECT_EQ(bce_with_logits(x, y, {.reduction = Reduction::none}).to_vector<double>(),
              Numbers({kInfinity, kInfinity}));
  }
}

TEST(Losses, OfTruthsHavePyTorchsNamesToo) {
  const Tensor x = tensor({0.5, -1.0}), y = tensor({1.0, 0.0});
  EXPECT_TRUE(equal(binary_cross_entropy_with_logits(x, y), bce_with_logits(x, y)));
  EXPECT_TRUE(equal(binary_cross_entropy(sigmoid(x), y), bce(sigmoid(x), y)));
}

TEST(Losses, OfTruthsTakeWeightsThatBroadcastToThem) {
  const Tensor x = tensor({0.2, 0.5, 0.9}), y = tensor({1.0, 0.0, 1.0});
  for (const Shape& shape : {Shape{3, 1}, Shape{1, 3}, Shape{2}}) {
    const Tensor w = ones(shape);
    const std::string wrong = text(" must broadcast to [3], not be ", shape), of = "([3] f32, [3] f32): ";
    EXPECT_EQ(error_of<ShapeError>([&] { bce(x, y, {.weight = w}); }), "bce" + of + "weight" + wrong);
    EXPECT_EQ(error_of<ShapeError>([&] { bce_with_logits(x, y, {.weight = w}); }),
              "bce_with_logits" + of + "weight" + wrong);
    EXPECT_EQ(error_of<ShapeError>([&] { bce_with_logits(x, y, {.pos_weight = w}); }),
              "bce_with_logits" + of + "pos_weight" + wrong);
  }
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{3}})
    EXPECT_NEAR(bce(x, y, {.weight = full(shape, 2.0)}).item(), 2 * bce(x, y).item(), 1e-6);
}

// Of a forward and a backward pass, beside the inputs, in tensors of their size.
TEST(Losses, OfProbabilitiesNeedLittleMemory) {
  const Tensor x = parameter(randn({256, 256})), t = rand({256, 256});
  const auto peak = [&](const auto& loss) {
    x.zero_grad();
    reset_peak_memory();
    const int64_t before = memory_stats().live_bytes;
    loss().backward();
    return static_cast<double>(memory_stats().peak_bytes - before) / static_cast<double>(x.numel() * 4);
  };
  EXPECT_LT(peak([&] { return bce(sigmoid(x), t); }), 9);
  EXPECT_LT(peak([&] { return kl_div(log_softmax(x, -1), t); }), 3.5);
  const Tensor classes = zeros({256}, i64), either = t.sign();
  EXPECT_LT(peak([&] { return multi_margin_loss(x, classes); }), 2.6);
  EXPECT_LT(peak([&] { return hinge_embedding_loss(x, either); }), 4.1);
}

TEST(KlDiv, AtATargetOfZeroBothDerivativesAreZero) {
  const Tensor t = parameter(tensor({0.0, 0.5}, f64));
  const Tensor first = grad(kl_div(zeros({2}, f64), t, {.reduction = Reduction::sum}), t, {.create_graph = true});
  EXPECT_EQ(first.to_vector<double>(), (Numbers{0, std::log(0.5) + 1}));
  EXPECT_EQ(gradient_of(first.sum(), t), (Numbers{0, 2}));
}

TEST(Bce, RefusesNaNAsItRefusesWhatIsOutside) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double p : {nan, -0.1, 1.1})
    EXPECT_EQ(error_of([&] {
                bce(tensor({0.5, p}), tensor({1.0, 1.0}));
              }),
              "bce([2] f32, [2] f32): probabilities must be in [0, 1]; for logits take bce_with_logits");
  EXPECT_TRUE(std::isnan(bce(tensor({0.5, 0.5}), tensor({1.0, nan})).item()));
}

TEST(NllLoss, TakesClassWeightsOfFloatingDtypesAsCrossEntropyDoes) {
  const Tensor x = zeros({2, 3}), targets = tensor({0, 2}), weight = tensor({1, 2, 3});
  EXPECT_THROW(cross_entropy(x, targets, {.weight = weight}), DtypeError);
  EXPECT_EQ(error_of<DtypeError>([&] { nll_loss(x, targets, {.weight = weight}); }),
            "nll_loss([2, 3] f32, [2] i64): the class weights must be floating, not i64");
  EXPECT_THROW(multi_margin_loss(x, targets, {.weight = weight}), DtypeError);
  EXPECT_EQ(multilabel_soft_margin_loss(x, ones({2, 3}), {.weight = weight}).rank(), 0);
}

// 1 - p is 0 in f32 from logits of 17 on, where the slope of a root would be infinite.
TEST(FocalLoss, HasGradientsAtLargeLogits) {
  for (const double gamma : {0.01, 0.5, 1.0, 2.0})
    for (const DType dtype : {f32, f64}) {
      const Tensor x = parameter(tensor({20.0, -20.0, 300.0, -300.0, 88.0, -1000.0}, dtype));
      const Tensor y = tensor({1.0, 0.0, 1.0, 0.0, 1.0, 0.0}, dtype);
      const Numbers g = gradient_of(focal_loss(x, y, {.gamma = gamma, .reduction = Reduction::sum}), x);
      for (const double each : g) EXPECT_TRUE(std::isfinite(each)) << gamma;
      // With q = 1 / (1 + e^x): -log(1 - q) q^gamma is q^(1 + gamma), whose derivative is -(1 + gamma) q^(1 + gamma).
      const double expected = -0.25 * (1 + gamma) * std::exp(-20 * (1 + gamma));
      EXPECT_NEAR(g[0], expected, 1e-5 * std::abs(expected)) << gamma;
    }
}

TEST(AdaptiveLogSoftmax, AClusterWithoutTargetsIsNotComputed) {
  const AdaptiveLogSoftmaxWithLoss layer(
      {.in_features = 4, .n_classes = 9, .cutoffs = {2, 5, 7}, .div_value = 1.5, .dtype = f64});
  const Tensor x = randn({5, 4}, f64), target = tensor({8, 0, 4, 1, 3});
  const AdaptiveLogSoftmaxOutput out = layer.forward(x, target);
  EXPECT_TRUE(allclose(out.output, gather(layer.log_prob(x), 1, target.unsqueeze(1)).squeeze(1)));
  out.loss.backward();
  for (const Tensor& p : layer.parameters())
    EXPECT_EQ(p.grad().defined(), p.name().find("tail.1") == std::string::npos) << p.name();
  const AdaptiveLogSoftmaxOutput one = layer.forward(x[2], tensor(4));
  EXPECT_TRUE(allclose(one.output, out.output[2]));
  EXPECT_EQ(one.output.rank(), 0);
  EXPECT_EQ(error_of<IndexError>([&] { (void)layer.forward(x, target + 1); }),
            "AdaptiveLogSoftmaxWithLoss([5, 4] f64, [5] i64): target 9 is out of range for 9 classes");
  EXPECT_EQ(error_of<Error>([] {
              AdaptiveLogSoftmaxWithLoss({.in_features = 8, .n_classes = 9, .cutoffs = {4, 5, 7}});
            }),
            "AdaptiveLogSoftmaxWithLoss(): cluster 1 would project 8 features to none (divided by 4^2); give a smaller "
            "div_value or fewer cutoffs");
}

TEST(Losses, OfDistributionsRefuseWhatDoesNotFit) {
  const Tensor x = zeros({2, 3}), y = zeros({3});
  const std::string shapes = "([2, 3] f32, [3] f32): input and target must have one shape, not [2, 3] and [3]";
  EXPECT_EQ(error_of([&] { kl_div(x, y); }), "kl_div" + shapes);
  EXPECT_EQ(error_of([&] { bce(x, y); }), "bce" + shapes);
  EXPECT_EQ(error_of([&] { focal_loss(x, y); }), "focal_loss" + shapes);
  EXPECT_EQ(error_of([&] { poisson_nll_loss(x, y); }), "poisson_nll_loss" + shapes);
  EXPECT_EQ(error_of([&] { bce(x + 2.0, x); }),
            "bce([2, 3] f32, [2, 3] f32): probabilities must be in [0, 1]; for logits take bce_with_logits");
  EXPECT_EQ(error_of([&] { focal_loss(x, x, {.gamma = -1}); }),
            "focal_loss([2, 3] f32, [2, 3] f32): gamma must be 0 or more, not -1");
  EXPECT_EQ(error_of([&] { focal_loss(x, x, {.gamma = std::nan("")}); }),
            "focal_loss([2, 3] f32, [2, 3] f32): gamma must be 0 or more, not nan");
  const std::string gaussian = "gaussian_nll_loss([2, 3] f32, [2, 3] f32, ";
  EXPECT_EQ(error_of([&] { gaussian_nll_loss(x, x, zeros({3})); }),
            gaussian + "[3] f32): var must be [2, 3], with a size of 1 for some of them, or [2], not [3]");
  EXPECT_EQ(gaussian_nll_loss(x, x, tensor({{1.0, 2.0, 4.0}})).item(),
            gaussian_nll_loss(x, x, tensor({{1.0, 2.0, 4.0}, {1.0, 2.0, 4.0}})).item());
  EXPECT_EQ(error_of([&] { gaussian_nll_loss(x, x, x - 1.0); }), gaussian + "[2, 3] f32): var has a negative value");
  EXPECT_EQ(error_of([&] { gaussian_nll_loss(x, x, x, {.eps = 0}); }),
            gaussian + "[2, 3] f32): eps must be positive, not 0");
}

TEST(Losses, OfDistancesRefuseWhatDoesNotFit) {
  const Tensor x = zeros({2, 3}), t = ones({2});
  EXPECT_EQ(error_of([&] { soft_margin_loss(x, t); }),
            "soft_margin_loss([2, 3] f32, [2] f32): input and target must have one shape, not [2, 3] and [2]");
  EXPECT_EQ(error_of([&] { margin_ranking_loss(x, x, t); }),
            "margin_ranking_loss([2, 3] f32, [2, 3] f32, [2] f32): input and target must have one shape, not [2, 3] "
            "and [2]");
  EXPECT_EQ(error_of([&] { cosine_embedding_loss(x, x, x); }),
            "cosine_embedding_loss([2, 3] f32, [2, 3] f32, [2, 3] f32): (N, D), (N, D) and (N) are needed, or all "
            "without N, not [2, 3] and [2, 3]");
  EXPECT_EQ(error_of([&] { cosine_embedding_loss(x, x, t, {.margin = 2}); }),
            "cosine_embedding_loss([2, 3] f32, [2, 3] f32, [2] f32): margin must be in [-1, 1], not 2");
  EXPECT_EQ(error_of([&] { triplet_margin_loss(x, x, x, {.margin = 0}); }),
            "triplet_margin_loss([2, 3] f32, [2, 3] f32, [2, 3] f32): margin must be positive, not 0");
}

TEST(Losses, OfClassesRefuseWhatDoesNotFit) {
  const Tensor x = zeros({2, 3}), classes = tensor({0, 1});
  const std::string margin = "multi_margin_loss([2, 3] f32, [2] i64): ";
  EXPECT_EQ(error_of([&] { multi_margin_loss(x, classes, {.p = 3}); }), margin + "p must be 1 or 2, not 3");
  EXPECT_EQ(error_of([&] { multi_margin_loss(x, classes, {.weight = ones({2})}); }),
            margin + "the class weights must be [3], not [2]");
  EXPECT_EQ(error_of([&] { multi_margin_loss(x, ones({2})); }),
            "multi_margin_loss([2, 3] f32, [2] f32): targets must be integers, not f32");
  EXPECT_EQ(error_of([&] { multilabel_margin_loss(x, classes); }),
            "multilabel_margin_loss([2, 3] f32, [2] i64): targets must be [2, 3], not [2]");
  EXPECT_EQ(error_of([&] {
              multilabel_margin_loss(x[0], tensor({0, 3, -1}));
            }),
            "multilabel_margin_loss([3] f32, [3] i64): class 3 is out of range for 3 classes");
  EXPECT_EQ(error_of([&] { multilabel_soft_margin_loss(zeros({}), zeros({})); }),
            "multilabel_soft_margin_loss([] f32, [] f32): the input must be (..., C)");
}

TEST(KlDiv, OfANegativeTargetIsNaN) {
  EXPECT_TRUE(std::isnan(kl_div(zeros({1}), full({1}, -1.0)).item<double>()));
  const Tensor t = parameter(tensor({0.0, 0.5}, f64));
  const Tensor loss = kl_div(zeros({2}, f64), t, {.reduction = Reduction::none});
  EXPECT_EQ(loss.to_vector<double>(), Numbers({0, 0.5 * std::log(0.5)}));
  EXPECT_NEAR(gradient_of(sum(loss), t)[1], std::log(0.5) + 1, 1e-15);
  EXPECT_TRUE(std::isnan(kl_div(full({1}, -kInfinity), zeros({1})).item())) << "as in PyTorch";
}

TEST(GaussianNllLoss, OfAnInfiniteVarianceIsInfinite) {
  const Tensor var = parameter(tensor({kInfinity, 1e-9, 4.0}, f64));
  const Tensor loss = gaussian_nll_loss(ones({3}, f64), ones({3}, f64), var, {.reduction = Reduction::none});
  const Numbers values = loss.to_vector<double>();
  EXPECT_EQ(values[0], kInfinity);
  EXPECT_NEAR(values[1], 0.5 * std::log(1e-6), 1e-12);
  EXPECT_EQ(values[2], 0.5 * std::log(4.0));
  EXPECT_NEAR(gradient_of(sum(loss), var)[2], 0.125, 1e-15);
}

TEST(CrossEntropy, TheMeanOfManyRowsIn16BitsIsComputedInF32) {
  for (const DType dtype : {f16, bf16}) {
    const Tensor loss = cross_entropy(zeros({70000, 3}, dtype), zeros({70000}, i64));
    EXPECT_EQ(loss.dtype(), dtype);
    EXPECT_NEAR(loss.item<double>(), std::log(3.0), dtype == f16 ? 0x1p-11 : 0x1p-8);  // half a unit
    EXPECT_EQ(nll_loss(full({70000, 3}, -2, dtype), zeros({70000}, i64)).item<double>(), 2);
  }
}

TEST(NllLoss, OfOneSampleWithoutABatch) {
  const Tensor x = tensor({-1.0, -2.0, -3.0}, f64), target = full({}, 1, i64);
  EXPECT_EQ(nll_loss(x, target).item<double>(), 2);
  const Tensor each = nll_loss(x, target, {.reduction = Reduction::none});
  EXPECT_EQ(each.shape(), Shape());
  EXPECT_EQ(each.item<double>(), 2);
}

TEST(Losses, OfIntegersAreComputedInFloats) {
  const Tensor a = tensor({1, 3}).to(u8), b = tensor({3, 2}).to(u8);  // 1 - 3 would wrap around
  EXPECT_EQ(l1_loss(a, b).item<double>(), 1.5);
  EXPECT_EQ(l1_loss(a, b, Reduction::sum).item<double>(), 3);
  EXPECT_EQ(mse_loss(a, b).item<double>(), 2.5);
  EXPECT_EQ(margin_ranking_loss(a, b, tensor({1, 1}).to(u8)).item<double>(), 1);
  EXPECT_EQ(nll_loss(tensor({{-1, -2}, {-3, -2}}), tensor({0, 1})).item<double>(), 1.5);
  EXPECT_EQ(l1_loss(a.to(bf16), tensor({3, 2})).dtype(), bf16);
  EXPECT_EQ(l1_loss(tensor({3, 2}), a.to(bf16)).dtype(), bf16);
  const Tensor c = tensor({1700000001, 1700000003}), d = tensor({1700000000, 1700000000});  // beyond f32
  EXPECT_EQ(l1_loss(c, d).item<double>(), 2);
  EXPECT_EQ(l1_loss(c, d.to(f64)).item<double>(), 2);
  EXPECT_NEAR(pairwise_distance(c, d, 2, 0).item<double>(), std::sqrt(10.0), 1e-6);
  EXPECT_NEAR(pairwise_distance(a, b, 2, 0).item<double>(), std::sqrt(5.0), 1e-6);
}

TEST(NllLoss, ReadsNoClassWeightForAnIgnoredTarget) {
  const Tensor x = parameter(tensor({{-1.0, -2.0}, {-3.0, -4.0}}, f64)), targets = tensor({-100, 1});
  const Tensor weight = tensor({kInfinity, 0.5}, f64);
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const Tensor loss = nll_loss(x, targets, {.weight = weight, .reduction = reduction});
    EXPECT_EQ(loss.item<double>(), reduction == Reduction::mean ? 4 : 2);
    EXPECT_EQ(gradient_of(loss, x), (Numbers{0, 0, 0, reduction == Reduction::mean ? -1 : -0.5}));
  }
}

TEST(SmoothL1Loss, OfF16IsDividedBeforeItIsRounded) {
  const Tensor x = parameter(full({2}, 500, f16)), zero = zeros({2}, f16);
  const Tensor loss = smooth_l1_loss(x, zero, {.beta = 1000});
  EXPECT_EQ(loss.dtype(), f16);
  EXPECT_EQ(loss.item<double>(), 125);
  EXPECT_EQ(gradient_of(loss, x), (Numbers{0.25, 0.25}));
}

TEST(Bce, OfASmallProbabilityIsNotLostIn1LessIt) {
  for (const DType dtype : {f32, f64, bf16, f16}) {
    const double small = dtype == f32 ? 0x1p-30 : dtype == f64 ? 0x1p-60 : 0x1p-13;
    const Tensor p = parameter(full({1}, small, dtype));
    const Tensor loss = bce(p, zeros({1}, dtype));
    EXPECT_NEAR(loss.item<double>(), small, small / 1024) << dtype;
    EXPECT_EQ(gradient_of(loss, p), (Numbers{1})) << dtype;
  }
}

TEST(CosineEmbeddingLoss, Of16BitsIsComputedInF32) {
  const Tensor a = randn({3, 768}), b = a * 0.5 + randn({3, 768}), target = ones({3}, i64);
  for (const DType dtype : {f16, bf16}) {
    const Tensor x = parameter(a.to(dtype)), y = b.to(dtype);
    const Tensor loss = cosine_embedding_loss(x, y, target), wide = cosine_embedding_loss(x.to(f32), y.to(f32), target);
    EXPECT_EQ(loss.dtype(), dtype);
    EXPECT_EQ(loss.item<double>(), wide.to(dtype).item<double>());
    EXPECT_EQ(cosine_embedding_loss(zeros_like(y), y, target).item<double>(), 1);
  }
}

TEST(PoissonNllLoss, OfARateOf0IsFiniteInF16) {
  const Tensor x = parameter(zeros({2}, f16)), target = tensor({0.0, 1.0}, f16);
  const Tensor loss = poisson_nll_loss(x, target, {.log_input = false, .reduction = Reduction::sum});
  EXPECT_NEAR(loss.item<double>(), 24 * std::log(2), 0.01);
  EXPECT_EQ(gradient_of(loss, x)[0], 1);
}

}  // namespace
}  // namespace weft::nn
