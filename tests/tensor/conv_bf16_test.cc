// Convolutions of bf16 with many channels on few pixels, which run tap by tap where the CPU multiplies bf16: sums are
// in f32 and rounded once.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/adjoints/conv.h"
#include "tensor/functions_all.h"

namespace weft {
namespace {

/// |a - b| <= half a step of bf16, and what sums in another order differ by.
void expect_rounded_once(const Tensor& half, const Tensor& exact, const char* what) {
  ASSERT_EQ(half.dtype(), bf16);
  const std::vector<double> a = half.to_vector<double>(), b = exact.to_vector<double>();
  double largest = 0;
  for (const double value : b) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_LE(std::abs(a[i] - b[i]), 0x1p-8 * std::abs(b[i]) + 1e-5 * largest) << what << ", element " << i;
}

TEST(ConvBf16, SumsTapsInF32) {
  manual_seed(3);
  for (const int64_t pixels : {1, 2, 4})
    for (const int64_t stride : {1, 2})
      for (const bool channels_first : {false, true}) {
        SCOPED_TRACE(text(pixels, " x ", pixels, " pixels, stride ", stride, channels_first ? ", OIHW" : ", OHWI"));
        const Conv2dOptions options{.stride = stride, .padding = 1};
        const Tensor x = randn({5, 128, pixels, pixels}).to(bf16);
        Tensor w = (randn({160, 3, 3, 128}) * 0.1).to(bf16).permute({0, 3, 1, 2});
        if (channels_first) w = w.contiguous();
        const Tensor bias = randn({160}).to(bf16);
        const Tensor y = conv2d(x, w, bias, options);
        const Tensor exact = conv2d(x.to(f32), w.to(f32), bias.to(f32), options);
        expect_rounded_once(y, exact, "forward");
        const Tensor g = randn(y.shape()).to(bf16);
        expect_rounded_once(adjoint::conv_backward_data(g, w, x.shape(), options),
                            adjoint::conv_backward_data(g.to(f32), w.to(f32), x.shape(), options), "data");
        expect_rounded_once(adjoint::conv_backward_weights(x, g, w.layout(), options),
                            adjoint::conv_backward_weights(x.to(f32), g.to(f32), w.layout(), options), "weights");
      }
}

/// Windows that are dilated, over the edge of the image and where some of their elements never meet it.
TEST(ConvBf16, SumsDilatedWindowsWeightsInF32) {
  manual_seed(5);
  for (const auto& [channels, height] : {std::pair<int64_t, int64_t>{70, 1}, {260, 9}})
    for (const int64_t dilation : {2, 4, 12})
      for (const bool channels_first : {false, true}) {
        const int64_t stride = dilation == 4 ? 2 : 1;
        SCOPED_TRACE(text(channels, " channels, dilation ", dilation, ", stride ", stride,
                          channels_first ? ", OIHW" : ", OHWI"));
        const Conv2dOptions options{.stride = stride, .padding = dilation, .dilation = dilation};
        const Tensor x = randn({2, channels, height, 11}).to(bf16);
        Tensor w = randn({channels, 3, 3, channels}).to(bf16).permute({0, 3, 1, 2});
        if (channels_first) w = w.contiguous();
        const Tensor g = randn(conv2d(x, w, options).shape()).to(bf16);
        expect_rounded_once(adjoint::conv_backward_weights(x, g, w.layout(), options),
                            adjoint::conv_backward_weights(x.to(f32), g.to(f32), w.layout(), options), "weights");
      }
}

/// Lines of an odd number of results, beside whose last window the image goes on: what lies there is not read.
TEST(ConvBf16, WeightsOfOddLinesDoNotMeetWhatNoWindowHolds) {
  manual_seed(6);
  for (const int64_t channels : {1, 16, 38}) {
    SCOPED_TRACE(text(channels, " channels"));
    const Conv2dOptions options{.stride = {1, 2}};
    Tensor x = randn({2, channels, 8, 13}).to(bf16);
    x.select(-1, 12).fill_(std::numeric_limits<double>::infinity());
    const Tensor g = randn({2, 17, 5, 5}).to(bf16);
    const View weight = View::contiguous({17, channels, 4, 4});
    expect_rounded_once(adjoint::conv_backward_weights(x, g, weight, options),
                        adjoint::conv_backward_weights(x.to(f32), g.to(f32), weight, options), "weights");
  }
  struct Case {
    int64_t width, stride, padding, taps;
  };
  for (const auto& [width, stride, padding, taps] :
       {Case{7, 1, 2, 3}, Case{9, 1, 2, 3}, Case{8, 2, 1, 1}, Case{8, 2, 2, 3}, Case{6, 3, 1, 1}}) {
    SCOPED_TRACE(text("width ", width));
    const Conv2dOptions options{.stride = stride, .padding = padding};
    const View weight = View::contiguous({16, 16, taps, taps});
    for (int64_t at = 0; at < width; ++at) {
      Tensor x = randn({2, 16, width, width}).to(bf16);
      x.select(-1, at).fill_(std::numeric_limits<double>::infinity());
      const int64_t out = (width + 2 * padding - taps) / stride + 1;
      const Tensor g = rand({2, 16, out, out}).to(bf16);
      EXPECT_TRUE(equal(isnan(adjoint::conv_backward_weights(x, g, weight, options)),
                        isnan(adjoint::conv_backward_weights(x.to(f32), g.to(f32), weight, options))))
          << at;
    }
  }
}

/// Convolutions that f32's kernels compute faster than oneDNN's for bf16.
TEST(ConvBf16, RunsInF32WhereThatIsFaster) {
  manual_seed(4);
  struct Case {
    const char* name;
    Shape x, weight;
    Conv2dOptions options;
  };
  const Case cases[] = {{"groups of 4 channels", {2, 16, 6, 7}, {16, 4, 3, 3}, {.padding = 1, .groups = 4}},
                        {"two filters a channel", {2, 8, 6, 7}, {16, 1, 3, 3}, {.padding = 1, .groups = 8}},
                        {"depthwise, 5 x 5 taps", {2, 16, 15, 16}, {16, 1, 5, 5}, {.padding = 2, .groups = 16}},
                        {"patches", {2, 3, 8, 12}, {32, 3, 4, 4}, {.stride = 4}}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    const Tensor x = randn(one.x).to(bf16), w = (randn(one.weight) * 0.1).to(bf16);
    const Tensor y = conv2d(x, w, one.options);
    expect_rounded_once(y, conv2d(x.to(f32), w.to(f32), one.options), "forward");
    const Tensor g = randn(y.shape()).to(bf16);
    expect_rounded_once(adjoint::conv_backward_data(g, w, x.shape(), one.options),
                        adjoint::conv_backward_data(g.to(f32), w.to(f32), x.shape(), one.options), "data");
    expect_rounded_once(adjoint::conv_backward_weights(x, g, w.layout(), one.options),
                        adjoint::conv_backward_weights(x.to(f32), g.to(f32), w.layout(), one.options), "weights");
  }
}

}  // namespace
}  // namespace weft
