// Options of layers: by position and by name, and what single layers refuse.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

// ---- what must not compile: numbers in braces would be the first options, not the sizes of a window ----

template <class M, class N>
concept TakesTwo = requires(N n) {
  M({n, n});
};
template <class M, class N>
concept TakesThree = requires(N n) {
  M({n, n, n});
};
template <class M, class N>
concept TakesTwoAfterOne = requires(N n) {
  M(2, {n, n});
};
static_assert(!TakesTwo<MaxPool2d, int> && !TakesTwo<AvgPool2d, int> && !TakesTwo<MaxUnpool2d, int>);
static_assert(!TakesThree<MaxPool3d, int> && !TakesThree<AvgPool3d, int> && !TakesThree<MaxUnpool3d, int>);
static_assert(!TakesTwo<Unfold, int> && !TakesTwoAfterOne<Fold, int> && !TakesTwoAfterOne<LPPool2d, int>);
static_assert(TakesTwo<AdaptiveAvgPool2d, int>);

TEST(LayerOptions, FollowWhatIsGivenByPosition) {
  EXPECT_EQ(
      nn::Conv2d(3, 16, 3, {.stride = 2, .padding = 1, .bias = false}).to_string(),
      nn::Conv2d({.in_channels = 3, .out_channels = 16, .kernel_size = 3, .stride = 2, .padding = 1, .bias = false})
          .to_string());
  EXPECT_EQ(nn::ConvTranspose1d(3, 16, 3, {.stride = 2}).to_string(),
            nn::ConvTranspose1d({.in_channels = 3, .out_channels = 16, .kernel_size = 3, .stride = 2}).to_string());
  EXPECT_EQ(nn::MaxPool2d(3, 2).to_string(), nn::MaxPool2d({.kernel_size = 3, .stride = 2}).to_string());
  EXPECT_EQ(nn::AvgPool3d(3, {.padding = 1}).to_string(), nn::AvgPool3d({.kernel_size = 3, .padding = 1}).to_string());
  EXPECT_EQ(nn::LSTM(8, 16, {.num_layers = 2}).to_string(),
            nn::LSTM({.input_size = 8, .hidden_size = 16, .num_layers = 2}).to_string());
  EXPECT_EQ(nn::BatchNorm1d(4, {.eps = 1e-3}).to_string(),
            nn::BatchNorm1d({.num_features = 4, .eps = 1e-3}).to_string());
  EXPECT_EQ(nn::LayerNorm(4, {.eps = 1e-3}).to_string(),
            nn::LayerNorm({.normalized_shape = {4}, .eps = 1e-3}).to_string());
  EXPECT_EQ(nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 16}).to_string(),
            nn::TransformerEncoderLayer({.d_model = 8, .nhead = 2, .dim_feedforward = 16}).to_string());
  EXPECT_EQ(nn::Linear(3, 4, {.bias = false}).to_string(), nn::Linear(3, 4, false).to_string());
  EXPECT_EQ(nn::RMSNorm({3, 4}, {.affine = false}).to_string(),
            nn::RMSNorm({.normalized_shape = {3, 4}, .affine = false}).to_string());
  EXPECT_EQ(nn::LayerNorm({3, 4}, {.bias = false}).to_string(),
            nn::LayerNorm({.normalized_shape = {3, 4}, .bias = false}).to_string());
  EXPECT_EQ(nn::InstanceNorm2d(8, {.affine = true}).to_string(),
            nn::InstanceNorm2d({.num_features = 8, .affine = true}).to_string());
  EXPECT_EQ(nn::Bilinear(2, 3, 4, {.bias = false}).to_string(),
            nn::Bilinear({.in1_features = 2, .in2_features = 3, .out_features = 4, .bias = false}).to_string());
  EXPECT_EQ(nn::EmbeddingBag(5, 4, {.mode = EmbeddingBag::Mode::sum}).to_string(),
            nn::EmbeddingBag({.num_embeddings = 5, .embedding_dim = 4, .mode = EmbeddingBag::Mode::sum}).to_string());
  EXPECT_EQ(nn::LPPool2d(2, 3, {.stride = 2}).to_string(),
            nn::LPPool2d(2, {.kernel_size = 3, .stride = 2}).to_string());
  EXPECT_EQ(nn::Unfold(2, {.stride = 2}).to_string(), nn::Unfold({.kernel_size = 2, .stride = 2}).to_string());
  EXPECT_EQ(error_of([] { nn::GRU(8, 16, {.hidden_size = 4}); }), "an option is given twice, by position and by name");
  const Tensor x = randn({2, 3, 7, 7});
  EXPECT_TRUE(equal(max_pool2d(x, 3, 2), max_pool2d(x, {.kernel_size = 3, .stride = 2})));
  EXPECT_TRUE(equal(avg_pool2d(x, 3), avg_pool2d(x, {.kernel_size = 3})));
}

TEST(Bilinear, TakesOneBatch) {
  EXPECT_EQ(error_of<ShapeError>([] {
              (void)Bilinear(4, 5, 2)(ones({2, 1, 4}), ones({2, 3, 5}));
            }),
            "Bilinear([2, 1, 4] f32, [2, 3, 5] f32): the inputs differ in their batch axes: [2, 1, 4] and [2, 3, 5]");
}

TEST(ConvTranspose, GivesTheSizeThatIsAskedFor) {
  const ConvTranspose2d up(2, 4, 3, {.stride = {3, 2}, .padding = {0, 1}, .output_padding = {2, 0}, .groups = 2});
  const Tensor x = randn({2, 2, 4, 5});
  for (int64_t height = 12; height < 15; ++height)
    for (int64_t width = 9; width < 11; ++width) {
      const weft::ConvTranspose2dOptions options{
          .stride = {3, 2}, .padding = {0, 1}, .output_padding = {height - 12, width - 9}, .groups = 2};
      const Tensor y = conv_transpose2d(x, up.weight(), up.bias(), options);
      EXPECT_TRUE(equal(up(x, {height, width}), y));
      EXPECT_TRUE(equal(up(x, zeros({7, 7, height, width}).shape()), y));
      EXPECT_TRUE(equal(up(x[0], {height, width}), y[0]));
    }
  EXPECT_EQ(ConvTranspose1d(1, 1, 2, {.stride = 2, .dilation = 3})(ones({1, 5}), {13}).shape(), (Shape{1, 13}));
  EXPECT_EQ(ConvTranspose3d(1, 1, 2, {.stride = 2})(ones({1, 3, 4, 5}), {7, 8, 11}).shape(), (Shape{1, 7, 8, 11}));
  EXPECT_EQ(error_of<ShapeError>([&] {
              (void)up(x, {12, 11});
            }),
            "ConvTranspose2d([2, 2, 4, 5] f32): an axis of 5 gives sizes from 9 to 10, not 11");
  EXPECT_EQ(error_of<ShapeError>([&] {
              (void)up(x, {11, 9});
            }),
            "ConvTranspose2d([2, 2, 4, 5] f32): an axis of 4 gives sizes from 12 to 14, not 11");
  EXPECT_EQ(error_of<ShapeError>([&] { (void)up(x, {12}); }),
            "ConvTranspose2d([2, 2, 4, 5] f32): the size must have 2 axes, or those of x, not be [12]");
  EXPECT_EQ(error_of<ShapeError>([&] {
              (void)up(x[0][0], {12, 9});
            }),
            "ConvTranspose2d([4, 5] f32): x must be (N, C, H, W) or (C, H, W), not [4, 5]");
}

TEST(LayerOptions, AreRefusedWhereTheyDoNotFit) {
  EXPECT_EQ(error_of([] { ConvTranspose2d(2, 3, 3, {.output_padding = 2}); }),
            "ConvTranspose2d(): output_padding 2 must be smaller than stride 1 or dilation 1");
  EXPECT_EQ(error_of([] { GroupNorm(3, 4); }), "GroupNorm(): 4 channels do not divide into 3 groups");
  EXPECT_EQ(error_of([] {
              AdaptiveLogSoftmaxWithLoss({.in_features = 4, .n_classes = 9, .cutoffs = {5, 3}});
            }),
            "AdaptiveLogSoftmaxWithLoss(): cutoffs must ascend from 1 to below 9, not 3 at place 1");
}

TEST(Layers, SayWhichShapeTheyTake) {
  EXPECT_EQ(error_of([] {
              (void)GroupNorm(2, 4)(ones({2, 3}));
            }),
            "GroupNorm([2, 3] f32): the input must be (N, 4, ...)");
  EXPECT_EQ(error_of([] {
              (void)InstanceNorm2d(4)(ones({2, 4, 3, 3, 3}));
            }),
            "InstanceNorm2d([2, 4, 3, 3, 3] f32): the input must have 4 axes, (N, 4, ...)");
  EXPECT_EQ(error_of([] {
              (void)Bilinear(2, 3, 4)(ones({2, 2}), ones({2, 4}));
            }),
            "Bilinear([2, 2] f32, [2, 4] f32): the inputs must be (..., 2) and (..., 3)");
  EXPECT_EQ(error_of([] { (void)EmbeddingBag(5, 3)(zeros({2}, i64)); }),
            "EmbeddingBag([2] i64): indices must be (N, L), or a row together with offsets");
  EXPECT_EQ(error_of([] {
              (void)cosine_embedding_loss(ones({3, 4}), ones({3, 4}), ones({2}));
            }),
            "cosine_embedding_loss([3, 4] f32, [3, 4] f32, [2] f32): there are 3 pairs and 2 targets");
}

TEST(AdaptiveLogSoftmaxWithLoss, PredictsTheMostProbableClass) {
  manual_seed(2);
  const AdaptiveLogSoftmaxWithLoss layer({.in_features = 8, .n_classes = 10, .cutoffs = {2, 5}, .div_value = 2});
  const Tensor x = randn({40, 8}) * 5.0, classes = layer.predict(x);
  EXPECT_TRUE(equal(classes, argmax(layer.log_prob(x), 1)));
  EXPECT_TRUE(any(classes >= 5).item<bool>()) << "a class of a cluster";
  EXPECT_TRUE(equal(layer.predict(x[3]), classes[3]));
  EXPECT_EQ(error_of([&] { (void)layer(x, zeros({3}, i64)); }),
            "AdaptiveLogSoftmaxWithLoss([40, 8] f32, [3] i64): the inputs must be (N, in_features) and (N), or "
            "(in_features) and ()");
}

// One image: with several PyTorch accepts it as well, and the result is the bias.
TEST(GroupNorm, OfOneValuePerGroupHasNoVariance) {
  for (const Shape& shape : {Shape{1, 3}, Shape{1, 3, 1}})
    EXPECT_EQ(error_of<ShapeError>([&] { (void)GroupNorm(3, 3)(ones(shape)); }),
              text("GroupNorm(", shape, " f32): each group has one value, which has no variance"));
  EXPECT_TRUE(equal(GroupNorm(3, 3)(ones({2, 3})), zeros({2, 3})));
  EXPECT_EQ(GroupNorm(3, 3)(ones({1, 3, 2})).shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(GroupNorm(1, 3)(ones({1, 3})).shape(), (Shape{1, 3}));
}

}  // namespace
}  // namespace weft::nn
