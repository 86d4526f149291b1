// Batch norms folded into the layer before them.
#include "nn/fuse.h"

#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

/// A norm in evaluation mode, with statistics and parameters of its own.
template <class Norm> Norm some_norm(int64_t channels, BatchNormOptions options = {}) {
  options.num_features = channels;
  Norm norm(options);
  norm.running_mean().copy_(randn({channels}));
  norm.running_var().copy_(rand({channels}) + 0.5);
  NoGrad guard;
  if (options.affine) norm.weight().copy_(randn({channels}));
  if (options.affine) norm.bias().copy_(randn({channels}));
  norm.eval();
  return norm;
}

template <class Layer, class Norm>
void expect_folded(const Layer& layer, const Layer& fused, const Norm& norm, const Tensor& x) {
  EXPECT_EQ(fused.weight().shape(), layer.weight().shape());
  EXPECT_TRUE(allclose(fused(x), norm(layer(x)), 1e-11, 1e-11)) << fused;
  EXPECT_FALSE(fused.weight().shares_storage(layer.weight()));
  EXPECT_TRUE(fused.bias().requires_grad());
}

TEST(Fuse, ConvolutionsOfEveryKind) {
  manual_seed(1);
  for (const bool bias : {true, false})
    for (const int64_t groups : {1, 2}) {
      const auto check = [&](const auto& conv, const auto& norm, const Shape& shape) {
        expect_folded(conv, fuse_conv_bn(conv, norm), norm, randn(shape, f64));
      };
      const BatchNormOptions f64s = {.eps = 0.1, .affine = bias, .dtype = f64};
      check(Conv1d(4, 6, 3, {.stride = 2, .groups = groups, .bias = bias, .dtype = f64}),
            some_norm<BatchNorm1d>(6, f64s), {2, 4, 9});
      check(Conv2d(4, 6, 3,
                   {.padding = 1, .groups = groups, .bias = bias, .padding_mode = PadMode::reflect, .dtype = f64}),
            some_norm<BatchNorm2d>(6, f64s), {2, 4, 5, 6});
      check(Conv3d(4, 6, 2, {.groups = groups, .bias = bias, .dtype = f64}), some_norm<BatchNorm3d>(6, f64s),
            {2, 4, 3, 3, 3});
      check(ConvTranspose1d(4, 6, 3, {.groups = groups, .bias = bias, .dtype = f64}), some_norm<BatchNorm1d>(6, f64s),
            {2, 4, 5});
      check(ConvTranspose2d(4, 6, 3, {.stride = 2, .output_padding = 1, .groups = groups, .bias = bias, .dtype = f64}),
            some_norm<BatchNorm2d>(6, f64s), {2, 4, 3, 4});
    }
}

TEST(Fuse, LinearLayers) {
  for (const bool bias : {true, false}) {
    const Linear linear(LinearOptions{.in_features = 3, .out_features = 5, .bias = bias, .dtype = f64});
    const auto norm = some_norm<BatchNorm1d>(5, {.dtype = f64});
    expect_folded(linear, fuse_linear_bn(linear, norm), norm, randn({4, 3}, f64));
  }
}

TEST(Fuse, KeepsDtypeModeAndWhatIsFrozen) {
  Conv2d conv(3, 4, 3);
  conv.to(bf16);
  conv.requires_grad_(false);
  conv.eval();
  const auto norm = some_norm<BatchNorm2d>(4, {.affine = false});
  const RandomState before = random_state();
  const Conv2d fused = fuse_conv_bn(conv, norm);
  EXPECT_EQ(random_state(), before);
  EXPECT_EQ(fused.weight().dtype(), bf16);
  EXPECT_FALSE(fused.weight().requires_grad() || fused.bias().requires_grad() || fused.is_training());
}

TEST(Fuse, RoundsHalfPrecisionOnce) {
  manual_seed(2);
  Conv2d conv(3, 4, 3);
  auto norm = some_norm<BatchNorm2d>(4);
  norm.running_var().mul_(1e-3);
  conv.to(bf16);
  norm.to(bf16);
  const Conv2d fused = fuse_conv_bn(conv, norm);
  conv.to(f64);
  norm.to(f64);
  const Conv2d exact = fuse_conv_bn(conv, norm);
  EXPECT_TRUE(equal(fused.weight(), exact.weight().to(bf16)));
  EXPECT_TRUE(equal(fused.bias(), exact.bias().to(bf16)));
}

TEST(Fuse, Errors) {
  const Conv2d conv(3, 4, 3);
  EXPECT_SAYS(error_of([&] { (void)fuse_conv_bn(conv, BatchNorm2d(4)); }),
              "fuse_conv_bn(): the batch norm uses the statistics of its batches; call eval() first");
  EXPECT_SAYS(error_of<ShapeError>([&] { (void)fuse_conv_bn(conv, some_norm<BatchNorm2d>(3)); }),
              "the batch norm has 3 channels, the layer 4");
  EXPECT_EQ(
      error_of([&] { (void)fuse_linear_bn(weight_norm(Linear(3, 4)), some_norm<BatchNorm1d>(4)); }),
      "fuse_linear_bn(): the weight of WeightNorm<Linear> is computed in each call; give what its plain() returns");
}

}  // namespace
}  // namespace weft::nn
