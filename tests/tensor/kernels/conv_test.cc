// Convolutions and their gradients against naive loops: small integers, so that every order of summation gives the same
// bits.
#include "tensor/ops/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string_view>
#include <thread>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/window/onednn_conv.h"
#include "tensor/memory/storage.h"
#include "tensor/ops/window.h"
#include "tensor/runtime/parallel.h"
#include "tensor/runtime/threads.h"
#include "tests/reference/conv.h"
#include "tests/tensor/kernels/exact.h"

namespace weft {
namespace {

using kernels::cpu::ForceLoops;
using testing::Array;
using testing::Layout;
using testing::Random;

struct Case {
  Shape x, w, out;
  Conv2dOptions p;
};

template <class T> void check(const Case& c, Random& random, bool plain = false) {
  const auto layout = [&](bool broadcast) {
    return plain ? Layout::channels_last : testing::any_layout(random, broadcast);
  };
  Array<T> x = testing::random_array<T>(c.x, layout(true), random, 3);
  Array<T> w = testing::random_array<T>(c.w, plain ? Layout::row_major : layout(true), random, 3);
  Array<T> bias = testing::random_array<T>({c.w[0]}, layout(true), random, 3);
  Array<T> grad = testing::random_array<T>(c.out, layout(true), random, 3);
  const T rubbish = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  Array<T> out = testing::make_array<T>(c.out, layout(false), random, rubbish);
  Array<T> grad_x = testing::make_array<T>(c.x, layout(false), random, rubbish);
  Array<T> grad_w = testing::make_array<T>(c.w, plain ? Layout::row_major : layout(false), random, rubbish);
  const bool with_bias = testing::pick(random, 0, 1) == 0;
  op::Conv{c.p}.cpu(x.operand(), w.operand(), with_bias ? bias.operand() : Operand{}, out.operand());
  op::ConvBackwardData{c.p, c.x}.cpu(grad.operand(), w.operand(), grad_x.operand());
  op::ConvBackwardWeights{c.p, c.w, grad_w.view.strides()}.cpu(x.operand(), grad.operand(), grad_w.operand());

  const auto values = [](Array<T>& a) { return testing::values_of(a); };
  testing::reference::Array added = values(bias);
  added.absent = !with_bias;
  const std::string what = text("x ", c.x, " w ", c.w, " out ", c.out, " stride ", c.p.stride[0], " ", c.p.stride[1],
                                " padding ", c.p.padding[0], " ", c.p.padding[1], " dilation ", c.p.dilation[0], " ",
                                c.p.dilation[1], " groups ", c.p.groups, " bias ", with_bias);
  EXPECT_EQ(testing::differences(out, conv(values(x), values(w), added, c.out, c.p)), 0) << "forward: " << what;
  EXPECT_EQ(testing::differences(grad_x, conv_backward_data(values(grad), values(w), c.x, c.p)), 0)
      << "backward data: " << what;
  EXPECT_EQ(testing::differences(grad_w, conv_backward_weights(values(x), values(grad), c.w, c.p)), 0)
      << "backward weights: " << what;
}

Case make_case(const Shape& x, int64_t filters, int64_t kh, int64_t kw, const Conv2dOptions& p) {
  Shape out{x[0], filters, conv_output_size(x[2], kh, p.stride[0], p.padding[0], p.dilation[0]),
            conv_output_size(x[3], kw, p.stride[1], p.padding[1], p.dilation[1])};
  return {x, {filters, x[1] / p.groups, kh, kw}, out, p};
}

Case random_case(Random& random) {
  using testing::pick;
  for (;;) {
    Conv2dOptions p;
    for (int64_t Size2::*axis : {&Size2::height, &Size2::width}) {
      p.stride.*axis = pick(random, 1, 3);
      p.padding.*axis = pick(random, 0, 2);
      p.dilation.*axis = pick(random, 0, 3) == 0 ? 2 : 1;
    }
    const int64_t per_group = pick(random, 0, 3) == 0 ? 16 : pick(random, 1, 5),
                  filters = pick(random, 0, 3) == 0 ? 16 : pick(random, 1, 5);
    const int kind = static_cast<int>(pick(random, 0, 4));
    p.groups = kind == 0 ? pick(random, 2, 4) : 1;
    int64_t channels = per_group * p.groups, all_filters = filters * p.groups;
    if (kind == 1) p.groups = channels = all_filters = pick(random, 1, 20);  // depthwise
    if (kind == 2)
      p.groups = pick(random, 2, 9), channels = all_filters = p.groups << pick(random, 1, 3);  // narrow groups
    const Shape x{pick(random, 1, 3), channels, pick(random, 1, 9), pick(random, 1, 9)};
    Case c = make_case(x, all_filters, pick(random, 1, 4), pick(random, 1, 4), p);
    if (c.out[2] > 0 && c.out[3] > 0) return c;
  }
}

template <class T> void check_random(int count, uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < testing::property_cases(count) && !::testing::Test::HasFailure(); ++i)
    check<T>(random_case(random), random);
}

TEST(Conv, RandomShapesAreExact) { check_random<float>(500, 1); }
TEST(Conv, ForcedLoopsAreExact) {
  ForceLoops loops;
  check_random<float>(500, 2);
}
TEST(Conv, DoubleIsExact) { check_random<double>(300, 3); }
TEST(Conv, HalvesAreExactUpToOneRounding) {
  check_random<BFloat16>(60, 4);
  check_random<Float16>(60, 5);
}

/// The shapes of the networks that budgets are measured on.
TEST(Conv, NetworkShapesAreExact) {
  Random random(6);
  const Conv2dOptions same{.padding = 1, .algorithm = Convolution::direct}, first{.stride = 2, .padding = 3},
      half{.stride = 2, .padding = 1}, down{.stride = 2}, dilated{.padding = 2, .dilation = 2};
  for (const Case& c : {make_case({2, 1, 28, 28}, 16, 3, 3, same), make_case({2, 16, 14, 14}, 32, 3, 3, same),
                        make_case({2, 3, 32, 32}, 64, 7, 7, first), make_case({2, 64, 8, 8}, 64, 3, 3, same),
                        make_case({3, 128, 2, 2}, 128, 3, 3, same), make_case({2, 64, 4, 4}, 128, 3, 3, half),
                        make_case({2, 64, 8, 8}, 128, 1, 1, down), make_case({2, 64, 8, 8}, 128, 1, 1, {}),
                        make_case({2, 3, 16, 16}, 64, 3, 3, same), make_case({16, 256, 1, 1}, 64, 3, 3, same),
                        make_case({2, 64, 14, 14}, 65, 3, 3, half), make_case({1, 66, 9, 9}, 64, 3, 3, dilated)}) {
    check<float>(c, random, true);
    check<float>(c, random, false);
    check<double>(c, random, true);
  }
}

// oneDNN 2.6's bf16 kernels give wrong gradients for these: odd filters of 1 x 1 windows on some numbers of pixels,
// dilated windows, and axes along which no window lies inside of the image.
TEST(KernelHazards, Bfloat16GradientsThatTheLibraryGetsWrong) {
  Random random(7);
  for (const bool plain : {true, false})
    for (const Case& c : {make_case({2, 64, 30, 40}, 1, 1, 1, {}), make_case({1, 20, 30, 30}, 21, 1, 1, {}),
                          make_case({1, 24, 29, 29}, 24, 3, 3, {.padding = 2, .dilation = 2}),
                          make_case({2, 32, 16, 32}, 32, 3, 3, {.padding = 2, .dilation = 2, .groups = 32}),
                          make_case({2, 32, 5, 1}, 32, 3, 3, {.stride = 2, .padding = 1}),
                          make_case({1, 16, 8, 1}, 16, 4, 4, {.stride = 2, .padding = 2})})
      check<BFloat16>(c, random, plain);
}

// oneDNN 2.6's bf16 kernels multiply odd channels and the pixels beside windows by zeros.
TEST(KernelHazards, Bfloat16NaNStaysInItsWindows) {
  Random random(8);
  for (const int64_t channels : {1, 3, 5, 17})
    for (const int64_t width : {1, 4}) {
      const Case c = make_case({2, channels, 5, 9}, 8, 1, width, {.stride = {1, 2}});
      Array<BFloat16> x = testing::random_array<BFloat16>(c.x, Layout::channels_last, random, 3);
      Array<BFloat16> w = testing::random_array<BFloat16>(c.w, Layout::row_major, random, 3);
      Array<BFloat16> out = testing::make_array<BFloat16>(c.out, Layout::channels_last, random, BFloat16(0));
      for (int64_t i = 0; i < 9; ++i) x.at({0, 0, i % 5, i}) = BFloat16(std::numeric_limits<float>::quiet_NaN());
      op::Conv{c.p}.cpu(x.operand(), w.operand(), Operand{}, out.operand());
      testing::reference::Array none;
      none.absent = true;
      const testing::reference::Array expected = conv(testing::values_of(x), testing::values_of(w), none, c.out, c.p);
      const testing::reference::Array got = testing::values_of(out);
      int wrong = 0;
      for (size_t i = 0; i < got.values.size(); ++i)
        wrong += std::isnan(got.values[i]) != std::isnan(expected.values[i]);
      EXPECT_EQ(wrong, 0) << channels << " channels, width " << width;
    }
}

// The same of their gradients of the data, for odd filters.
TEST(KernelHazards, Bfloat16InfinitiesStayInTheirWindows) {
  Random random(9);
  for (const int64_t filters : {1, 3, 5, 17}) {
    const Case c = make_case({2, 8, 5, 9}, filters, 3, 2, {});
    Array<BFloat16> g = testing::make_array<BFloat16>(c.out, Layout::channels_last, random, BFloat16(1));
    Array<BFloat16> w = testing::make_array<BFloat16>(c.w, Layout::row_major, random, BFloat16(1));
    Array<BFloat16> grad = testing::make_array<BFloat16>(c.x, Layout::channels_last, random, BFloat16(0));
    g.at({0, 0, 1, 3}) = BFloat16(std::numeric_limits<float>::infinity());
    op::ConvBackwardData{c.p, c.x}.cpu(g.operand(), w.operand(), grad.operand());
    for (const double value : testing::values_of(grad).values) ASSERT_FALSE(std::isnan(value)) << filters;
    EXPECT_TRUE(std::isinf(static_cast<float>(grad.at({0, 7, 2, 4}))));
  }
}

// oneDNN 2.6's bf16 forward kernel multiplies the value behind the images by zero: beside an odd channel of the last
// pixel.
TEST(KernelHazards, Bfloat16ImagesBesideInfinities) {
  Random random(11);
  const Case c = make_case({1, 87, 7, 7}, 59, 7, 7, {.padding = 3});
  Array<BFloat16> both = testing::random_array<BFloat16>({2, 87, 7, 7}, Layout::channels_last, random);
  for (int64_t channel = 0; channel < 87; ++channel)
    for (int64_t pixel = 0; pixel < 49; ++pixel)
      both.at({1, channel, pixel / 7, pixel % 7}) = BFloat16(std::numeric_limits<float>::infinity());
  Array<BFloat16> w = testing::random_array<BFloat16>(c.w, Layout::row_major, random);
  Array<BFloat16> out = testing::make_array<BFloat16>(c.out, Layout::channels_last, random);
  const View first = both.view.slice(0, 0, 1);
  op::Conv{c.p}.cpu(both.operand().with(first), w.operand(), Operand{}, out.operand());
  for (const double value : testing::values_of(out).values) ASSERT_FALSE(std::isnan(value));
}

// oneDNN 2.6's kernels for these wrote up to some KB beyond their scratchpad on two threads: into the allocator's
// lists.
TEST(KernelHazards, StridedPointwiseWeightsKeepToTheirScratchpad) {
  Random random(10);
  for (int round = 0; round < 40; ++round) {
    check<float>(make_case({1, 8, 12, 16}, 5, 1, 1, {.stride = {2, 1}}), random, true);
    std::vector<IntrusivePtr<Storage>> kept;
    for (size_t bytes = 4; bytes < 16000; bytes += 148) {
      kept.push_back(Storage::allocate(bytes));
      std::memset(kept.back()->data(), 0, bytes);
    }
  }
}

// Many channels on few pixels are taken tap by tap: some taps read padding only, and a large batch is gathered in
// parts.
TEST(Conv, TapsAreExact) {
  Random random(5);
  for (const bool plain : {true, false}) {
    check<float>(make_case({3, 128, 1, 1}, 130, 3, 3, {.padding = 1}), random, plain);
    check<float>(make_case({2, 130, 4, 3}, 200, 3, 3, {.stride = 2, .padding = 1}), random, plain);
    check<BFloat16>(make_case({2, 128, 2, 2}, 129, 3, 3, {.padding = 1}), random, plain);
    check<BFloat16>(make_case({3, 64, 9, 7}, 66, 3, 3, {.padding = 2, .dilation = 2}), random, plain);
  }
  check<float>(make_case({90, 128, 3, 2}, 192, 3, 3, {.padding = 1}), random, true);
}

/// The same bits at any thread count, of the weight's gradient in any of its layouts too.
void check_bits(const Case& c) {
  const int before = num_threads();
  for (const Layout weights : {Layout::row_major, Layout::channels_last}) {
    std::vector<float> first;
    for (const int threads : {1, 2, 3, 5}) {
      set_num_threads(threads);
      Random random(6);
      Array<float> x = testing::random_array<float>(c.x, Layout::channels_last, random, 3);
      Array<float> w = testing::random_array<float>(c.w, weights, random, 3);
      Array<float> grad = testing::random_array<float>(c.out, Layout::channels_last, random, 3);
      for (Array<float>* a : {&x, &w, &grad})  // real numbers, so that the order of summation shows
        for (float& v : a->memory) v = 1.0f / (v + 0.3f);
      Array<float> out = testing::make_array<float>(c.out, Layout::channels_last, random, 0);
      Array<float> grad_x = testing::make_array<float>(c.x, Layout::channels_last, random, 0);
      Array<float> grad_w = testing::make_array<float>(c.w, weights, random, 0);
      op::Conv{c.p}.cpu(x.operand(), w.operand(), Operand{}, out.operand());
      op::ConvBackwardData{c.p, c.x}.cpu(grad.operand(), w.operand(), grad_x.operand());
      op::ConvBackwardWeights{c.p, c.w, grad_w.view.strides()}.cpu(x.operand(), grad.operand(), grad_w.operand());
      std::vector<float> all = out.memory;
      all.insert(all.end(), grad_x.memory.begin(), grad_x.memory.end());
      all.insert(all.end(), grad_w.memory.begin(), grad_w.memory.end());
      if (threads == 1) first = all;
      EXPECT_EQ(all, first) << threads << " threads";
    }
  }
  set_num_threads(before);
}

TEST(Conv, TapsHaveTheSameBitsAtAnyThreadCount) { check_bits(make_case({90, 192, 3, 2}, 200, 3, 3, {.padding = 1})); }
TEST(Conv, NarrowGroupsHaveTheSameBitsAtAnyThreadCount) {
  check_bits(make_case({5, 72, 11, 13}, 72, 3, 3, {.stride = {1, 2}, .padding = 1, .groups = 18}));
}

TEST(Conv, EmptySizes) {
  Random random(7);
  for (const Shape& x : {Shape{0, 3, 5, 5}, Shape{2, 0, 5, 5}, Shape{2, 3, 5, 0}}) {
    const Conv2dOptions p{.padding = 1};
    check<float>(make_case(x, 4, 3, 3, p), random);
    check<double>(make_case(x, 4, 3, 3, p), random);
  }
  check<float>(make_case({2, 3, 5, 5}, 0, 3, 3, {}), random);
  check<float>(make_case({2, 3, 2, 2}, 4, 3, 3, {}), random);  // the window does not fit: no output
}

TEST(Conv, OutputSize) {
  EXPECT_EQ(conv_output_size(7, 3, 2, 1, 1), 4);
  EXPECT_EQ(conv_output_size(5, 3, 1, 0, 2), 1);
  EXPECT_EQ(conv_output_size(4, 3, 1, 0, 2), 0);
  EXPECT_THROW(conv_output_size(int64_t{1} << 62, 3, 1, int64_t{1} << 62, 1), ShapeError);
}

TEST(Conv, IntegersAreRefused) {
  Random random(8);
  Array<int32_t> x = testing::random_array<int32_t>({1, 1, 3, 3}, Layout::row_major, random);
  EXPECT_THROW(op::Conv{}.cpu(x.operand(), x.operand(), {}, x.operand()), DtypeError);
}

// Hazard: a conv with 0 input channels throws in oneDNN; here the sum is empty and the bias is what remains.
TEST(KernelHazards, ConvWithoutInputChannels) {
  Random random(9);
  Array<float> x = testing::random_array<float>({2, 0, 5, 5}, Layout::row_major, random);
  Array<float> w = testing::random_array<float>({3, 0, 3, 3}, Layout::row_major, random);
  Array<float> bias = testing::make_array<float>({3}, Layout::row_major, random, 2.5f);
  Array<float> out = testing::make_array<float>({2, 3, 3, 3}, Layout::row_major, random);
  op::Conv{}.cpu(x.operand(), w.operand(), bias.operand(), out.operand());
  testing::for_each_index(out.shape(), [&](const IntList& i) { EXPECT_EQ(out.at(i), 2.5f); });
}

// Hazard: bytes beyond 64 bits wrap silently in oneDNN.
TEST(KernelHazards, ConvSizesBeyondMemoryAreRefused) {
  float value[1] = {1};
  const int64_t huge = int64_t{1} << 31;
  const View x = View::create({1, 1, huge, huge / 2}, {0, 0, 0, 0}),
             w = View::create({1, 1, huge, huge / 2}, {0, 0, 0, 0});
  const View out = View::contiguous({1, 1, 1, 1});
  EXPECT_THROW(op::Conv{}.cpu({value, &x, f32}, {value, &w, f32}, {}, {value, &out, f32}), ShapeError);
}

// Hazard: oneDNN generates code pixel by pixel of the padding (2^20 take seconds, 2^26 minutes), and counts in 32 bits.
// One window sees the image here, its neighbors see padding.
TEST(KernelHazards, ConvDistancesBeyondTheImage) {
  Random random(13);
  for (const int64_t far : {int64_t{1} << 16, int64_t{1} << 26, int64_t{1} << 30, int64_t{1} << 40}) {
    const Size2 distance(1, far);
    check<float>(make_case({2, 3, 4, 4}, 3, 3, 3, {.stride = distance, .padding = distance}), random, true);
    check<float>(make_case({2, 16, 1, 1}, 16, 1, 1, {.stride = far, .padding = far}), random);
    check<float>(make_case({1, 16, 3, 3}, 16, 3, 3, {.stride = 2, .padding = far, .dilation = far}), random);
    check<double>(make_case({1, 3, 2, 2}, 4, 1, 1, {.stride = far, .padding = far}), random);
  }
}

// Hazard: one wrong pairing of layouts falls to a reference kernel, a hundred times slower.
TEST(KernelHazards, NetworkConvolutionsAvoidReferenceKernels) {
  const kernels::cpu::ConvShape deep{Conv2dOptions{.padding = 1}, 16, 64, {1, 16, 16}, 64, {1, 3, 3}, {1, 16, 16}};
  const kernels::cpu::ConvShape first{
      Conv2dOptions{.stride = 2, .padding = 3}, 16, 3, {1, 64, 64}, 64, {1, 7, 7}, {1, 32, 32}};
  for (const auto& s : {deep, first})
    for (const char* name :
         kernels::cpu::onednn::conv_implementations(s, {s.channels * s.taps(), s.taps(), 1, s.kernel[2], 1}))
      EXPECT_FALSE(std::string_view(name).starts_with("ref") || std::string_view(name).starts_with("gemm")) << name;
}

// Hazard: one primitive run from two threads with a shared scratchpad.
TEST(KernelHazards, TwoThreadsRunOneConvolution) {
  const auto work = [] {
    SerialScope serial;
    Random random(10);
    const Conv2dOptions p{.padding = 1};
    for (int i = 0; i < 5; ++i) check<float>(make_case({4, 16, 8, 8}, 32, 3, 3, p), random, true);
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
}

// Hazard: a weight gradient made for two threads waits for ever where there is one.
TEST(KernelHazards, ConvolutionsInsideParallelRegions) {
  const Conv2dOptions p{.padding = 1};
  Random outside(11);
  check<float>(make_case({4, 16, 8, 8}, 32, 3, 3, p), outside, true);
  std::vector<int> done(4);
  parallel_for(4, 1, [&](int64_t begin, int64_t end) {
    Random random(12);
    for (int64_t i = begin; i < end; ++i) {
      check<float>(make_case({4, 16, 8, 8}, 32, 3, 3, p), random, true);
      done[static_cast<size_t>(i)] = 1;
    }
  });
  EXPECT_EQ(done, std::vector<int>(4, 1));
}

}  // namespace
}  // namespace weft
