// Norms, and weight and spectral norm, against PyTorch, in f64. tests/golden/norms.py and parametrizations.py make
// the values.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions/fill.h"
#include "tests/nn/golden_checks.h"

namespace weft::nn {
namespace {

using testing::wave;

TEST(NormGolden, GroupNorms) {
  check_module("group_norm", GroupNorm(2, 6), {2, 6, 3, 4});
  check_module("group_norm_rows", GroupNorm(3, 6), {4, 6});
  check_module("group_norm_one", GroupNorm({.num_groups = 1, .num_channels = 4, .eps = 1e-2}), {2, 4, 5});
  check_module("group_norm_plain", GroupNorm({.num_groups = 4, .num_channels = 4, .affine = false}), {2, 4, 5});
}

TEST(NormGolden, InstanceNorms) {
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

TEST(NormGolden, RunningStatistics) {
  check_tracked("instance_norm_tracked",
                InstanceNorm2d({.num_features = 3, .momentum = 0.3, .affine = true, .track_running_stats = true}),
                {2, 3, 4, 5});
  check_tracked("batch_norm_3d", BatchNorm3d(3), {2, 3, 2, 4, 3});
}

TEST(NormGolden, RmsNorms) {
  check_module("rms_norm", RMSNorm(5), {3, 4, 5});
  check_module("rms_norm_axes", RMSNorm(RMSNormOptions{.normalized_shape = {4, 5}, .eps = 1e-2}), {3, 4, 5});
  check_module("rms_norm_plain", RMSNorm(RMSNormOptions{.normalized_shape = {6}, .affine = false}), {2, 6});
  check_module("rms_norm_row", RMSNorm(RMSNormOptions{.normalized_shape = {7}, .eps = 1e-5}), {7});
}

TEST(NormGolden, LocalResponseNorms) {
  check_module("local_response_norm", LocalResponseNorm(2), {2, 4, 3});
  check_module("local_response_norm_3", LocalResponseNorm({.size = 3, .alpha = 0.5, .beta = 0.6, .k = 1.5}),
               {2, 5, 3, 2});
  check_module("local_response_norm_5", LocalResponseNorm({.size = 5, .alpha = 0.1}), {2, 7, 3});
  check_module("local_response_norm_1", LocalResponseNorm({.size = 1, .alpha = 1.0}), {2, 4, 3});
}

TEST(NormGolden, WeightNorm) {
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

TEST(NormGolden, ComputedWeights) {
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

}  // namespace
}  // namespace weft::nn
