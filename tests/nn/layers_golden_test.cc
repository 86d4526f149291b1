// Norms and losses against PyTorch, in f64. tests/golden/layers.py makes the values; golden_test.cc has the first ones.
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

TEST(LayersGolden, GroupNorms) {
  check_module("group_norm", GroupNorm(2, 6), {2, 6, 3, 4});
  check_module("group_norm_rows", GroupNorm(3, 6), {4, 6});
  check_module("group_norm_one", GroupNorm({.num_groups = 1, .num_channels = 4, .eps = 1e-2}), {2, 4, 5});
  check_module("group_norm_plain", GroupNorm({.num_groups = 4, .num_channels = 4, .affine = false}), {2, 4, 5});
}

TEST(LayersGolden, InstanceNorms) {
  check_module("instance_norm_1d", InstanceNorm1d(3), {2, 3, 5});
  check_module("instance_norm_2d", InstanceNorm2d({.num_features = 3, .eps = 1e-3, .affine = true}), {2, 3, 4, 5});
  check_module("instance_norm_3d", InstanceNorm3d({.num_features = 2, .affine = true}), {2, 2, 3, 2, 4});
  check_module("instance_norm_single", InstanceNorm1d(3), {3, 5});
}

template <class M> void check_tracked(const std::string& name, M module, const Shape& shape) {
  check_module(name, module, {shape}, [](M& m, const std::vector<NamedTensor>& x) { return m(x[0].tensor); });
  (void)module(wave(shape, 1.1, 2.0) + 0.5);
  expect_golden(name + ".running_mean", module.get_buffer("running_mean"));
  expect_golden(name + ".running_var", module.get_buffer("running_var"));
  expect_golden(name + ".num_batches_tracked", module.get_buffer("num_batches_tracked").to(f64));
  module.eval();
  expect_golden(name + ".eval", module(wave(shape, 0.3)));
}

TEST(LayersGolden, RunningStatistics) {
  check_tracked("instance_norm_tracked",
                InstanceNorm2d({.num_features = 3, .momentum = 0.3, .affine = true, .track_running_stats = true}),
                {2, 3, 4, 5});
  check_tracked("batch_norm_3d", BatchNorm3d(3), {2, 3, 2, 4, 3});
}

TEST(LayersGolden, RmsNorms) {
  check_module("rms_norm", RMSNorm(5), {3, 4, 5});
  check_module("rms_norm_axes", RMSNorm(RMSNormOptions{.normalized_shape = {4, 5}, .eps = 1e-2}), {3, 4, 5});
  check_module("rms_norm_plain", RMSNorm(RMSNormOptions{.normalized_shape = {6}, .affine = false}), {2, 6});
  check_module("rms_norm_row", RMSNorm(RMSNormOptions{.normalized_shape = {7}, .eps = 1e-5}), {7});
}

TEST(LayersGolden, LocalResponseNorms) {
  check_module("local_response_norm", LocalResponseNorm(2), {2, 4, 3});
  check_module("local_response_norm_3", LocalResponseNorm({.size = 3, .alpha = 0.5, .beta = 0.6, .k = 1.5}),
               {2, 5, 3, 2});
  check_module("local_response_norm_5", LocalResponseNorm({.size = 5, .alpha = 0.1}), {2, 7, 3});
  check_module("local_response_norm_1", LocalResponseNorm({.size = 1, .alpha = 1.0}), {2, 4, 3});
}

TEST(LayersGolden, WeightNorm) {
  for (const int64_t dim : {0, 1}) {
    const Tensor v = parameter(wave({3, 4}, 0.3));
    const Tensor g = parameter(wave(dim == 0 ? Shape{3, 1} : Shape{1, 4}, 0.5) + 2);
    check_backward("weight_norm_" + std::to_string(dim), weight_norm(v, g, dim), {{"v", v}, {"g", g}});
  }
}

/// M in training, in evaluation, and the vectors it keeps, which begin as waves.
template <class M> void check_computed(const std::string& name, M module, const Shape& shape) {
  module.to(f64);
  std::vector<NamedTensor> vectors;
  for (const NamedTensor& buffer : module.buffers()) {
    if (!buffer.name.starts_with("parametrizations")) continue;
    NoGrad guard;
    Tensor(buffer.tensor).copy_(wave(buffer.tensor.shape(), buffer.name.ends_with("_u") ? 0.8 : 0.2));
    vectors.push_back(buffer);
  }
  check_module(name, module, {shape}, [](M& m, const std::vector<NamedTensor>& x) { return m(x[0].tensor); });
  for (const NamedTensor& vector : vectors) expect_golden(name + "." + vector.name, vector.tensor);
  module.eval();
  expect_golden(name + ".eval", module(wave(shape, 0.6)));
}

TEST(LayersGolden, ComputedWeights) {
  check_computed("weight_normed", weight_norm(Linear(4, 3)), {2, 4});
  check_computed("weight_normed_columns", weight_norm(Linear(4, 3), {.axis = 1}), {2, 4});
  const Conv1dOptions plain{.in_channels = 4, .out_channels = 3, .kernel_size = 2, .bias = false};
  check_computed("weight_normed_whole", weight_norm(Conv1d(plain), {.axis = std::nullopt}), {2, 4, 5});
  check_computed("weight_normed_bias", weight_norm(weight_norm(Conv2d(2, 3, 2)), {.name = "bias"}), {1, 2, 4, 3});
  check_computed("spectral", spectral_norm(Linear(4, 3)), {2, 4});
  check_computed("spectral_three", spectral_norm(Conv2d(2, 3, 2), {.n_power_iterations = 3}), {1, 2, 4, 3});
  check_computed("spectral_transposed", spectral_norm(ConvTranspose1d(2, 3, 2)), {1, 2, 4});
  check_computed("spectral_columns", spectral_norm(Linear(4, 3, false), {.eps = 0.5, .axis = 1}), {2, 4});
  check_computed("spectral_row", spectral_norm(PReLU(3)), {2, 3});
}

class FurtherLosses : public ::testing::TestWithParam<std::pair<std::string, Reduction>> {
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

TEST_P(FurtherLosses, OfDistributions) {
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

TEST_P(FurtherLosses, OfDistances) {
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

TEST_P(FurtherLosses, OfSeveralClasses) {
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

TEST_P(FurtherLosses, OfSequences) {
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

INSTANTIATE_TEST_SUITE_P(LayersGolden, FurtherLosses,
                         ::testing::Values(std::pair{"none", Reduction::none}, std::pair{"mean", Reduction::mean},
                                           std::pair{"sum", Reduction::sum}));

TEST(LayersGolden, LossesOfBatches) {
  const Tensor soft = softmax(wave({2, 3, 2, 2}, 0.4), 1), x = parameter(wave({2, 3, 2, 2}, 0.3, 2));
  check_backward("soft_targets_images", cross_entropy(x, soft), {{"x", x}});
  const Tensor y = parameter(wave({4, 3}, 0.3, 2));
  check_backward("kl_div_batch", kl_div(y, sigmoid(wave({4, 3}, 0.2)), {.batch_mean = true}), {{"x", y}});
}

}  // namespace
}  // namespace weft::nn
