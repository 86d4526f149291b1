// Losses against PyTorch, in f64. tests/golden/losses.py makes the values. Common ones: common_layers_golden_test.cc;
// further options: loss_configurations_test.cc.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/unary.h"
#include "tests/nn/golden_checks.h"

namespace weft::nn {
namespace {

using testing::wave;

class LossesOfEachReduction : public ::testing::TestWithParam<std::pair<std::string, Reduction>> {
 protected:
  Reduction reduction() const { return GetParam().second; }
  /// loss(x, x1, ...) of waves of these shapes.
  template <class F> void check(const std::string& name, const std::vector<Shape>& shapes, const F& loss) const {
    const std::vector<NamedTensor> in = leaves_of(shapes, 2);
    check_backward(name + "." + GetParam().first, loss(in), in);
  }
  using In = std::vector<NamedTensor>;
  const Tensor p = sigmoid(wave({4, 3}, 0.2));
};

TEST_P(LossesOfEachReduction, OfDistributions) {
  const Reduction r = reduction();
  const Tensor t = abs(wave({4, 3}, 0.7, 2.0));
  check("kl_div", {{4, 3}}, [&](const In& x) { return kl_div(x[0].tensor, p, {.reduction = r}); });
  check("kl_div_log", {{4, 3}},
        [&](const In& x) { return kl_div(x[0].tensor, log(p), {.log_target = true, .reduction = r}); });
  check("bce_p", {{4, 3}}, [&](const In& x) { return bce(sigmoid(x[0].tensor), p, {.reduction = r}); });
  check("bce_p_weighted", {{4, 3}}, [&](const In& x) {
    return bce(sigmoid(x[0].tensor), p, {.weight = abs(wave({4, 1}, 0.4)), .reduction = r});
  });
  const Tensor hard = (wave({4, 3}, 0.7) > 0.0).to(f64);
  check("focal_0", {{4, 3}}, [&](const In& x) { return focal_loss(x[0].tensor, hard, {.reduction = r}); });
  check("focal_1", {{4, 3}}, [&](const In& x) { return focal_loss(x[0].tensor, p, {.reduction = r}); });
  check("focal_2", {{4, 3}},
        [&](const In& x) { return focal_loss(x[0].tensor, hard, {.alpha = -1, .gamma = 0.5, .reduction = r}); });
  check("focal_3", {{4, 3}},
        [&](const In& x) { return focal_loss(x[0].tensor, p, {.alpha = 0.6, .gamma = 0, .reduction = r}); });
  check("poisson", {{4, 3}}, [&](const In& x) { return poisson_nll_loss(x[0].tensor, t, {.reduction = r}); });
  check("poisson_full", {{4, 3}},
        [&](const In& x) { return poisson_nll_loss(x[0].tensor, t, {.full = true, .reduction = r}); });
  check("poisson_rate", {{4, 3}}, [&](const In& x) {
    return poisson_nll_loss(abs(x[0].tensor) + 0.1, t, {.log_input = false, .eps = 1e-3, .reduction = r});
  });
  check("gaussian", {{4, 3}, {4, 3}},
        [&](const In& x) { return gaussian_nll_loss(x[0].tensor, p, abs(x[1].tensor) + 0.1, {.reduction = r}); });
  check("gaussian_full", {{4, 3}, {4, 1}}, [&](const In& x) {
    return gaussian_nll_loss(x[0].tensor, p, abs(x[1].tensor), {.full = true, .eps = 0.5, .reduction = r});
  });
}

TEST_P(LossesOfEachReduction, OfDistances) {
  const Reduction r = reduction();
  const Tensor signs = tensor({1.0, -1.0, -1.0, 1.0}, f64);
  const Tensor matrix = tensor({{1.0, -1.0, 1.0}, {-1.0, -1.0, 1.0}, {1.0, 1.0, 1.0}, {-1.0, 1.0, -1.0}}, f64);
  const std::vector<Shape> one = {{4, 3}}, two = {{4, 3}, {4, 3}}, three = {{4, 3}, {4, 3}, {4, 3}};
  check("smooth_l1", one, [&](const In& x) { return smooth_l1_loss(x[0].tensor, p, {.reduction = r}); });
  check("smooth_l1_beta", one,
        [&](const In& x) { return smooth_l1_loss(x[0].tensor, p, {.beta = 0.4, .reduction = r}); });
  check("smooth_l1_zero", one,
        [&](const In& x) { return smooth_l1_loss(x[0].tensor, p, {.beta = 0, .reduction = r}); });
  check("soft_margin", one, [&](const In& x) { return soft_margin_loss(x[0].tensor, matrix, r); });
  check("hinge", one,
        [&](const In& x) { return hinge_embedding_loss(x[0].tensor, matrix, {.margin = 0.7, .reduction = r}); });
  check("ranking", two, [&](const In& x) {
    return margin_ranking_loss(x[0].tensor, x[1].tensor, matrix, {.margin = 0.3, .reduction = r});
  });
  check("cosine", two, [&](const In& x) {
    return cosine_embedding_loss(x[0].tensor, x[1].tensor, signs, {.margin = 0.2, .reduction = r});
  });
  check("triplet", three,
        [&](const In& x) { return triplet_margin_loss(x[0].tensor, x[1].tensor, x[2].tensor, {.reduction = r}); });
  check("triplet_swap", three, [&](const In& x) {
    return triplet_margin_loss(x[0].tensor, x[1].tensor, x[2].tensor,
                               {.margin = 2.0, .p = 1.0, .swap = true, .reduction = r});
  });
  check("triplet_swap", three, [&](const In& x) {
    const auto distance = [](const Tensor& a, const Tensor& b) { return pairwise_distance(a, b, 1.0, 1e-6); };
    return triplet_margin_loss(x[0].tensor, x[1].tensor, x[2].tensor,
                               {.margin = 2.0, .swap = true, .reduction = r, .distance = distance});
  });
}

TEST_P(LossesOfEachReduction, OfSeveralClasses) {
  const Reduction r = reduction();
  const Tensor classes = tensor({2, 0, 4, 1, 2, 3}), weight = abs(wave({5}, 2.0)) + 0.1;
  const Tensor many = tensor({{2, 0, -1, 1, 1}, {-1, 0, 1, 2, 3}, {4, 3, 2, 1, 0}, {1, -1, -1, -1, -1}});
  const Tensor soft = softmax(wave({6, 5}, 0.4), -1);
  check("multi_margin", {{6, 5}},
        [&](const In& x) { return multi_margin_loss(x[0].tensor, classes, {.reduction = r}); });
  check("multi_margin_all", {{6, 5}}, [&](const In& x) {
    return multi_margin_loss(x[0].tensor, classes, {.p = 2, .margin = 0.6, .weight = weight, .reduction = r});
  });
  check("multilabel_margin", {{4, 5}}, [&](const In& x) { return multilabel_margin_loss(x[0].tensor, many, r); });
  check("multilabel_soft", {{4, 5}}, [&](const In& x) {
    return multilabel_soft_margin_loss(x[0].tensor, sigmoid(wave({4, 5}, 0.1)), {.weight = weight, .reduction = r});
  });
  check("soft_targets", {{6, 5}}, [&](const In& x) { return cross_entropy(x[0].tensor, soft, {.reduction = r}); });
  check("soft_targets_all", {{6, 5}}, [&](const In& x) {
    return cross_entropy(x[0].tensor, soft, {.weight = weight, .label_smoothing = 0.1, .reduction = r});
  });
}

TEST_P(LossesOfEachReduction, OfSequences) {
  const Reduction r = reduction();
  check("ctc", {{7, 3, 5}}, [&](const In& x) {
    return ctc_loss(log_softmax(x[0].tensor, -1), tensor({{1, 2, 2}, {3, 1, 4}, {2, 0, 0}}), tensor({7, 6, 5}),
                    tensor({3, 3, 1}), {.reduction = r});
  });
  check("ctc_row", {{7, 2, 5}}, [&](const In& x) {
    return ctc_loss(log_softmax(x[0].tensor, -1), tensor({1, 2, 2, 0, 3}), tensor({7, 3}), tensor({3, 2}),
                    {.blank = 4, .reduction = r});
  });
}

INSTANTIATE_TEST_SUITE_P(LossGolden, LossesOfEachReduction,
                         ::testing::Values(std::pair{"none", Reduction::none}, std::pair{"mean", Reduction::mean},
                                           std::pair{"sum", Reduction::sum}));

TEST(LossGolden, LossesOfBatches) {
  const Tensor soft = softmax(wave({2, 3, 2, 2}, 0.4), 1), x = parameter(wave({2, 3, 2, 2}, 0.3, 2));
  check_backward("soft_targets_images", cross_entropy(x, soft), {{"x", x}});
  const Tensor y = parameter(wave({4, 3}, 0.3, 2));
  check_backward("kl_div_batch", kl_div(y, sigmoid(wave({4, 3}, 0.2)), {.batch_mean = true}), {{"x", y}});
}

}  // namespace
}  // namespace weft::nn
