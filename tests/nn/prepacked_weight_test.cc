// Evaluation without history: convolutions keep what they compute of a weight until it changes, and take the batch
// norm, the residual and the relu behind them into their op. Results are those of the layers one by one.
#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "tensor/all.h"
#include "tensor/memory/allocator.h"
#include "tests/error_of.h"

namespace weft {
namespace {

constexpr int64_t kChannels = 32;

nn::Sequential make_network() {
  manual_seed(7);
  nn::Sequential net(nn::Conv2d({.in_channels = kChannels, .out_channels = kChannels, .kernel_size = 3, .padding = 1}),
                     nn::BatchNorm2d(kChannels), nn::ReLU(), nn::BasicBlock(kChannels, kChannels),
                     nn::BasicBlock(kChannels, 2 * kChannels, 2));
  net(randn({4, kChannels, 16, 16}) + 0.3);  // running statistics that are not 0 and 1
  net.eval();
  return net;
}

/// x through the network without history, and with it.
void expect_equal(nn::Sequential& net, const Tensor& x, const char* when) {
  const Tensor layers = net(x).detach();
  const NoGrad guard;
  for (int i = 0; i < 2; ++i) {  // the second time with prepacked weights
    const Tensor fused = net(x);
    const double error = abs(fused - layers).max().item<double>(), size = abs(layers).max().item<double>();
    EXPECT_LT(error, 2e-5 * size) << when;
    EXPECT_GT(error, 0.0) << when << ": both took the same way";
  }
}

TEST(PrepackedWeight, ErrorsNameTheFunctionOfTheLayer) {
  nn::Sequential net(nn::Conv2d(3, 4, 3), nn::BatchNorm2d(4));
  net.eval();
  const Tensor x = ones({1, 2, 5, 5});
  const std::string line = error_of([&] { net(x); });
  EXPECT_SAYS(line, "conv2d([1, 2, 5, 5] f32, [4, 3, 3, 3] f32, [4] f32): x has 2 channels");
  const NoGrad guard;
  EXPECT_EQ(error_of([&] { net(x); }), line);
  EXPECT_EQ(error_of([&] { net.forward(x, 0, 1); }), line);
}

TEST(PrepackedWeight, EvaluationGivesWhatTheLayersGive) {
  nn::Sequential net = make_network();
  for (const Shape& shape : {Shape{1, kChannels, 16, 16}, Shape{8, kChannels, 12, 20}})
    expect_equal(net, randn(shape), "at first");
}

TEST(PrepackedWeight, AChangeOfTheWeightIsSeen) {
  nn::Sequential net = make_network();
  const Tensor x = randn({8, kChannels, 16, 16});
  expect_equal(net, x, "at first");
  Tensor weight = net.at<nn::Conv2d>(0).weight();
  {
    const NoGrad guard;
    weight.mul_(-1.5);
  }
  expect_equal(net, x, "after a write in place");
  {
    const NoGrad guard;
    weight.select(0, 3).fill_(0.25);
  }
  expect_equal(net, x, "after a write through a view");
  nn::Conv2d plain({.in_channels = kChannels, .out_channels = kChannels, .kernel_size = 3, .bias = false});
  const NoGrad guard;
  plain.weight().copy_(randn({kChannels, kChannels, 3, 3}));
  const Tensor before = plain(x);
  *plain.weight().detach().permute({2, 3, 1, 0}).data<float>() += 1.0f;  // (as it lies: no version tells)
  EXPECT_GT(abs(plain(x) - before).max().item<double>(), 1e-3) << "after a write to memory that was given out";
}

TEST(PrepackedWeight, IsFreedWithTheLayer) {
  const NoGrad guard;
  const Tensor x = randn({8, kChannels, 16, 16});
  const int64_t before = memory_stats().live_bytes;
  {
    const nn::Conv2d layer({.in_channels = kChannels, .out_channels = kChannels, .kernel_size = 3, .bias = false});
    const int64_t weight = memory_stats().live_bytes - before;
    layer(x);
    EXPECT_GT(memory_stats().live_bytes - before, 4 * weight);
  }
  EXPECT_EQ(memory_stats().live_bytes, before);
}

/// Stride 2 has no Winograd form: what is kept is the weight as the library's kernel reads it.
TEST(PrepackedWeight, OfALibrarysKernelGivesTheSameBits) {
  manual_seed(8);
  const NoGrad guard;
  const nn::Conv2d layer({.in_channels = kChannels, .out_channels = kChannels, .kernel_size = 3, .stride = 2});
  const int64_t before = memory_stats().live_bytes;
  for (const Shape& shape : {Shape{1, kChannels, 16, 16}, Shape{3, kChannels, 9, 30}, Shape{1, kChannels, 16, 16}}) {
    const Tensor x = randn(shape);
    for (int i = 0; i < 3; ++i) {
      const Tensor y = layer(x), wanted = conv2d(x, layer.weight(), layer.bias(), {.stride = 2});
      EXPECT_TRUE(equal(y, wanted)) << shape << ", call " << i;
      if (i == 1) layer.weight().mul_(-1.5);
    }
  }
  EXPECT_GE(memory_stats().live_bytes - before, layer.weight().numel() * int64_t{4}) << "nothing was prepacked";
}

}  // namespace
}  // namespace weft
