// Winograd convolutions against sums in double: within the bound that theory gives, in any shape, at any thread count;
// and what the switch and NaN do to a convolution that takes them.
#include "tensor/kernels/cpu/window/winograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/core/error.h"
#include "tensor/ops/conv.h"
#include "tensor/runtime/convolution.h"
#include "tensor/runtime/threads.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft {
namespace {

using namespace kernels::cpu;
using testing::pick;
using testing::Random;

/// A convolution of a window of any size.
ConvShape window_of(const Size3& kernel, int64_t batch, int64_t channels, const Size3& in, int64_t filters,
                    const Size3& padding, int64_t groups = 1) {
  ConvShape s{};
  s.padding = padding, s.stride = s.dilation = Size3(1), s.groups = groups;
  s.batch = batch, s.channels = channels, s.filters = filters;
  s.in = in, s.kernel = kernel;
  const auto out = [&](int axis) { return in[axis] + 2 * padding[axis] - kernel[axis] + 1; };
  s.out = Size3(out(0), out(1), out(2));
  return s;
}

ConvShape shape_of(int64_t batch, int64_t channels, Size2 in, int64_t filters, Size2 padding, int64_t groups = 1) {
  return window_of({1, 3, 3}, batch, channels, {1, in[0], in[1]}, filters, {0, padding[0], padding[1]}, groups);
}

std::string text_of(const Size3& t) { return text(t[0], "x", t[1], "x", t[2]); }
std::string text_of(const ConvShape& s) {
  return text("window ", text_of(s.kernel), " n ", s.batch, " c ", s.channels, " in ", text_of(s.in), " k ", s.filters,
              " padding ", text_of(s.padding), " groups ", s.groups);
}

/// Random values, dense and channels-last, and a weight in one of the orders of its axes.
struct Operands {
  std::vector<float> x, w, bias, grad;
  WeightStrides strides{};

  Operands(const ConvShape& s, Random& random)
      : x(static_cast<size_t>(s.pixels() * s.channels)),
        w(static_cast<size_t>(s.filters * s.group_channels() * s.taps())),
        bias(static_cast<size_t>(s.filters)),
        grad(static_cast<size_t>(s.out_pixels() * s.filters)) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (auto* values : {&x, &w, &bias, &grad})
      for (float& v : *values) v = uniform(random);
    // Axes of the weight from the innermost on: as PyTorch packs it, as nn does, and channels-last.
    constexpr size_t kOrders[][5] = {{4, 3, 2, 1, 0}, {0, 1, 4, 3, 2}, {1, 4, 3, 2, 0}};
    const std::array<int64_t, 5> sizes = {s.filters, s.group_channels(), s.kernel[0], s.kernel[1], s.kernel[2]};
    int64_t step = 1;
    for (const size_t axis : kOrders[pick(random, 0, 2)]) strides[axis] = step, step *= sizes[axis];
  }
};

/// Results of one way of computing.
struct Results {
  std::vector<double> out, grad_x, grad_w;  // grad_w in the weight's strides
  Results(const Operands& v) : out(v.grad.size()), grad_x(v.x.size()), grad_w(v.w.size()) {}
};

Results naive(const ConvShape& s, const Operands& v) {
  Results r(v);
  const int64_t channels = s.group_channels(), filters = s.group_filters();
  for (int64_t p = 0; p < s.out_pixels(); ++p)
    for (int64_t tap = 0; tap < s.taps(); ++tap) {
      const Size3 at(tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]);
      const int64_t n = p / (s.out[0] * s.out[1] * s.out[2]),
                    d = p / (s.out[1] * s.out[2]) % s.out[0] - s.padding[0] + at[0],
                    h = p / s.out[2] % s.out[1] - s.padding[1] + at[1], w = p % s.out[2] - s.padding[2] + at[2];
      if (d < 0 || d >= s.in[0] || h < 0 || h >= s.in[1] || w < 0 || w >= s.in[2]) continue;
      const int64_t pixel = ((n * s.in[0] + d) * s.in[1] + h) * s.in[2] + w;
      for (int64_t o = 0; o < s.filters; ++o)
        for (int64_t c = 0; c < channels; ++c) {
          const auto from = static_cast<size_t>(pixel * s.channels + o / filters * channels + c);
          const auto to = static_cast<size_t>(p * s.filters + o);
          const auto weight = static_cast<size_t>(o * v.strides[0] + c * v.strides[1] + at[0] * v.strides[2] +
                                                  at[1] * v.strides[3] + at[2] * v.strides[4]);
          r.out[to] += double{v.x[from]} * v.w[weight];
          r.grad_x[from] += double{v.grad[to]} * v.w[weight];
          r.grad_w[weight] += double{v.grad[to]} * v.x[from];
        }
    }
  for (size_t i = 0; i < r.out.size(); ++i) r.out[i] += v.bias[i % v.bias.size()];
  return r;
}

struct Computed {
  std::vector<float> out, grad_x, grad_w;
  Computed(const ConvShape& s, const Operands& v)
      : out(v.grad.size(), NAN), grad_x(v.x.size(), NAN), grad_w(v.w.size(), NAN) {
    EXPECT_TRUE(winograd_conv(s, v.x.data(), v.w.data(), v.strides, nullptr, {.shift = v.bias.data()}, out.data()));
    EXPECT_TRUE(winograd_conv_backward_data(s, v.grad.data(), v.w.data(), v.strides, grad_x.data()));
    EXPECT_TRUE(winograd_conv_backward_weights(s, v.x.data(), v.grad.data(), grad_w.data(), v.strides));
  }
  bool operator==(const Computed&) const = default;
};

/// No value further off than `most`; the root of the mean square of what they are off, per that of the values.
double rms_error(const std::vector<float>& got, const std::vector<double>& wanted, double most,
                 const std::string& what) {
  double error = 0, square = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double off = got[i] - wanted[i];
    EXPECT_LE(std::abs(off), most) << what << ", element " << i << " is " << got[i] << ", not " << wanted[i];
    if (::testing::Test::HasFailure()) return 0;
    error += off * off, square += wanted[i] * wanted[i];
  }
  return std::sqrt(error / std::max(square, 1e-30));
}

// The bound of Barabasz, Anderson, Soodhalter and Gregg (arXiv 1803.10986) for operands within 1: 2^-24 times the sums
// of products that transforms and sums could take at most, of the absolute values of all matrices. `kForward` is the
// largest element of |A^T| (|G| 1 * |B^T| 1), `kWeights` of |G^T| (|B^T| 1 * |A| 1): once for lines, squared for
// windows. The planes of a window's parts are summed as those of more channels would be.
constexpr double kForward = 23.73, kWeights = 28.32, kRoundings = 32;
double bound(double matrices, int64_t terms) {
  const auto n = static_cast<double>(terms);
  return std::ldexp(1.0, -24) * (n + kRoundings) * n * matrices;
}

void check(const ConvShape& s, Random& random) {
  const Operands v(s, random);
  const Results wanted = naive(s, v);
  const Computed got(s, v);
  const std::string what = text_of(s);
  const bool line = s.kernel[1] == 1;
  const int64_t tiles = s.batch * s.out[0] * (line ? s.out[1] : (s.out[1] + 3) / 4) * ((s.out[2] + 3) / 4);
  const int64_t parts = s.kernel[0] * ((s.kernel[1] + 2) / 3) * ((s.kernel[2] + 2) / 3);
  const double forward = line ? kForward : kForward * kForward, weights = line ? kWeights : kWeights * kWeights;
  // In the mean, roundings cancel: the error grows with the root of a sum's length.
  const auto most = [](int64_t terms) { return 4e-7 * std::sqrt(4.0 + static_cast<double>(terms) / 4); };
  const int64_t channels = s.group_channels(), filters = s.group_filters();
  EXPECT_LE(rms_error(got.out, wanted.out, bound(forward, channels * parts), "forward: " + what),
            most(channels * parts))
      << what;
  EXPECT_LE(rms_error(got.grad_x, wanted.grad_x, bound(forward, filters * parts), "backward data: " + what),
            most(filters * parts))
      << what;
  EXPECT_LE(rms_error(got.grad_w, wanted.grad_w, bound(weights, tiles), "backward weights: " + what),
            most(tiles * parts))
      << what;
}

TEST(Winograd, RandomShapesKeepTheBound) {
  Random random(1);
  for (int i = 0; i < testing::property_cases(500) && !HasFailure();) {
    const int64_t groups = pick(random, 0, 4) == 0 ? pick(random, 2, 3) : 1;
    const int64_t channels = groups * pick(random, 1, 40), filters = groups * pick(random, 1, 40);
    const Size2 in(pick(random, 1, 13), pick(random, 1, 13)), padding(pick(random, 0, 3), pick(random, 0, 3));
    const ConvShape s = shape_of(pick(random, 1, 4), channels, in, filters, padding, groups);
    if (s.out[1] < 1 || s.out[2] < 1) continue;
    check(s, random);
    ++i;
  }
}

/// Lines, windows of several parts, and three axes.
TEST(Winograd, RandomWindowsKeepTheBound) {
  Random random(7);
  for (int i = 0; i < testing::property_cases(500) && !HasFailure();) {
    const bool deep = pick(random, 0, 3) == 0, line = pick(random, 0, 2) == 0;
    const Size3 kernel(deep ? pick(random, 2, 3) : 1, line ? 1 : pick(random, 2, 7), pick(random, 2, 7));
    const int64_t groups = pick(random, 0, 4) == 0 ? 2 : 1;
    const Size3 in(deep ? pick(random, 1, 4) : 1, pick(random, 1, 9), pick(random, 1, 15));
    const Size3 padding(deep ? pick(random, 0, 3) : 0, line ? 0 : pick(random, 0, 8), pick(random, 0, 8));
    const ConvShape s = window_of(kernel, pick(random, 1, 3), groups * pick(random, 1, 24), in,
                                  groups * pick(random, 1, 24), padding, groups);
    if (s.out[0] < 1 || s.out[1] < 1 || s.out[2] < 1) continue;
    ASSERT_TRUE(fits_winograd(s)) << text_of(s);
    check(s, random);
    ++i;
  }
}

TEST(Winograd, ExtremeShapesKeepTheBound) {
  Random random(2);
  check(shape_of(1, 1, {1, 1}, 1, {1, 1}), random);
  check(shape_of(2, 513, {5, 6}, 3, {1, 1}), random);
  check(shape_of(2, 3, {6, 5}, 513, {1, 1}), random);
  check(shape_of(1, 2, {2, 3}, 2, {9, 7}), random);       // padding larger than the image
  check(shape_of(3, 160, {9, 9}, 200, {1, 1}), random);   // several blocks of the weight's gradient
  check(shape_of(30, 20, {14, 14}, 20, {1, 1}), random);  // several of tiles
  check(shape_of(1, 300, {4, 4}, 530, {1, 1}), random);   // several chunks of filters
  check(window_of({1, 1, 3}, 2, 513, {1, 1, 9}, 3, {0, 0, 1}), random);
  check(window_of({1, 1, 5}, 3, 70, {1, 3, 90}, 130, {0, 0, 2}), random);
  check(window_of({1, 5, 5}, 2, 130, {1, 7, 7}, 140, {0, 2, 2}), random);
  check(window_of({3, 3, 3}, 2, 70, {3, 6, 5}, 70, {1, 1, 1}), random);
}

TEST(Winograd, TheSameBitsAtAnyThreadCount) {
  Random random(3);
  const int before = num_threads();
  for (const ConvShape& s : {shape_of(3, 70, {9, 12}, 150, {1, 1}), shape_of(1, 200, {4, 4}, 90, {1, 1}),
                             shape_of(40, 16, {13, 13}, 16, {1, 0}), shape_of(5, 48, {8, 8}, 96, {1, 1}, 3),
                             window_of({1, 5, 5}, 4, 40, {1, 11, 9}, 70, {0, 2, 2}),
                             window_of({1, 1, 3}, 4, 64, {1, 1, 500}, 140, {0, 0, 1}),
                             window_of({3, 3, 3}, 2, 40, {5, 7, 6}, 40, {1, 1, 1})}) {
    const Operands v(s, random);
    set_num_threads(1);
    const Computed one(s, v);
    for (const int threads : {2, 3, 5}) {
      set_num_threads(threads);
      EXPECT_EQ(one, Computed(s, v)) << text_of(s) << " threads " << threads;
    }
  }
  set_num_threads(before);
}

TEST(Winograd, APrepackedWeightGivesTheSameBits) {
  Random random(5);
  for (const ConvShape& s : {shape_of(2, 40, {9, 7}, 33, {1, 1}), shape_of(1, 300, {4, 4}, 530, {1, 1}),
                             shape_of(3, 24, {5, 6}, 60, {1, 0}, 3), shape_of(8, 512, {7, 7}, 256, {1, 1}),
                             window_of({1, 5, 5}, 2, 40, {1, 9, 7}, 33, {0, 2, 2})}) {
    const Operands v(s, random);
    std::vector<float> packed(static_cast<size_t>(winograd_weight_size(s)));
    winograd_weight(s, v.w.data(), v.strides, packed.data());
    std::vector<float> out(v.grad.size(), NAN);
    EXPECT_TRUE(winograd_conv(s, v.x.data(), nullptr, v.strides, packed.data(), {.shift = v.bias.data()}, out.data()));
    EXPECT_EQ(Computed(s, v).out, out) << text_of(s);
  }
}

TEST(Winograd, WhatFollowsIsDoneOnTheWay) {
  Random random(6);
  for (const bool relu : {false, true}) {
    const ConvShape s = shape_of(2, 20, {7, 9}, 42, {1, 1}, 2);
    const Operands v(s, random), parts(s, random);  // of the other: a scale and a residual
    const ConvFinish finish{parts.bias.data(), v.bias.data(), parts.grad.data(), relu};
    std::vector<float> plain(v.grad.size()), out(v.grad.size(), NAN);
    EXPECT_TRUE(winograd_conv(s, v.x.data(), v.w.data(), v.strides, nullptr, {}, plain.data()));
    EXPECT_TRUE(winograd_conv(s, v.x.data(), v.w.data(), v.strides, nullptr, finish, out.data()));
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t o = i % static_cast<size_t>(s.filters);
      const double sum = double{plain[i]} * parts.bias[o] + v.bias[o] + parts.grad[i];
      ASSERT_NEAR(out[i], relu ? std::max(sum, 0.0) : sum, 1e-6 * (1 + std::abs(plain[i]))) << i;
    }
  }
}

TEST(Winograd, SizesDecide) {
  using enum ConvDirection;
  for (const ConvDirection d : {forward, backward_data, backward_weights}) {
    EXPECT_TRUE(prefers_winograd(shape_of(16, 64, {16, 16}, 64, {1, 1}), d));
    EXPECT_TRUE(prefers_winograd(shape_of(32, 256, {14, 14}, 256, {1, 1}), d));
    EXPECT_FALSE(prefers_winograd(shape_of(16, 3, {64, 64}, 64, {1, 1}), d));   // transforms cost more than products
    EXPECT_FALSE(prefers_winograd(shape_of(1, 512, {4, 4}, 512, {1, 1}), d));   // one tile for a large weight
    EXPECT_FALSE(prefers_winograd(shape_of(16, 128, {5, 5}, 128, {1, 1}), d));  // tiles that hang over
    ConvShape s = shape_of(16, 64, {16, 16}, 64, {1, 1});
    s.stride = Size3(1, 2, 1);
    EXPECT_FALSE(prefers_winograd(s, d));
    s = shape_of(16, 64, {16, 16}, 64, {1, 1}), s.dilation = Size3(1, 1, 2);
    EXPECT_FALSE(prefers_winograd(s, d));
    EXPECT_TRUE(prefers_winograd(window_of({1, 5, 5}, 8, 64, {1, 28, 28}, 64, {0, 2, 2}), d));
    EXPECT_TRUE(prefers_winograd(window_of({1, 1, 3}, 16, 64, {1, 1, 1024}, 64, {0, 0, 1}), d));
    EXPECT_TRUE(prefers_winograd(window_of({1, 1, 5}, 16, 128, {1, 1, 512}, 128, {0, 0, 2}), d));
    EXPECT_TRUE(prefers_winograd(window_of({3, 3, 3}, 4, 64, {16, 16, 16}, 64, {1, 1, 1}), d));
    EXPECT_FALSE(prefers_winograd(window_of({1, 2, 2}, 8, 64, {1, 28, 28}, 64, {0, 1, 1}), d));
    EXPECT_FALSE(prefers_winograd(window_of({1, 3, 1}, 8, 64, {1, 28, 28}, 64, {0, 1, 0}), d));
  }
}

/// What the ops give for a shape that takes Winograd's filtering.
struct Ops {
  static constexpr int64_t kBatch = 8, kChannels = 32, kSize = 16;
  Shape image{kBatch, kChannels, kSize, kSize}, kernel{kChannels, kChannels, 3, 3};
  Random random{4};
  testing::Array<float> x = testing::random_array<float>(image, testing::Layout::channels_last, random, 3),
                        w = testing::random_array<float>(kernel, testing::Layout::row_major, random, 3),
                        grad = testing::random_array<float>(image, testing::Layout::row_major, random, 3);

  std::vector<std::vector<float>> run(Convolution algorithm) {
    const Conv2dOptions same{.padding = 1, .algorithm = algorithm};
    auto out = testing::make_array<float>(image, testing::Layout::channels_last, random, 7);
    auto grad_x = testing::make_array<float>(image, testing::Layout::row_major, random, 7);
    auto grad_w = testing::make_array<float>(kernel, testing::Layout::row_major, random, 7);
    op::Conv{same}.cpu(x.operand(), w.operand(), {}, out.operand());
    op::ConvBackwardData{same, image}.cpu(grad.operand(), w.operand(), grad_x.operand());
    op::ConvBackwardWeights{same, kernel, grad_w.view.strides()}.cpu(x.operand(), grad.operand(), grad_w.operand());
    return {values(out), values(grad_x), values(grad_w)};
  }
  static std::vector<float> values(testing::Array<float>& array) {
    std::vector<float> result;
    testing::for_each_index(array.shape(), [&](const IntList& i) { result.push_back(array.at(i)); });
    return result;
  }
};

TEST(Winograd, DirectSumsIntegersExactly) {
  Ops ops;
  const auto direct = ops.run(Convolution::direct), fastest = ops.run(Convolution::fastest);
  for (size_t i = 0; i < direct.size(); ++i) {
    for (const float v : direct[i]) ASSERT_EQ(v, std::round(v));
    EXPECT_NE(direct[i], fastest[i]) << "the other way rounds elsewhere: the shape no longer takes it";
    for (size_t j = 0; j < direct[i].size(); ++j) ASSERT_NEAR(direct[i][j], fastest[i][j], 0.02f);
  }
  set_convolution(Convolution::direct);
  EXPECT_EQ(convolution(), Convolution::direct);
  const auto switched = ops.run(Convolution::fastest);
  set_convolution(Convolution::fastest);
  EXPECT_EQ(direct, switched);
}

TEST(Winograd, NanAndInfinityReachWhatDirectSaysAndNoMore) {
  for (const float bad : {NAN, std::numeric_limits<float>::infinity(), 3e38f}) {
    Ops ops;
    ops.x.at({3, 5, 7, 9}) = bad;
    ops.grad.at({2, 4, 6, 8}) = bad;
    ops.w.at({1, 2, 0, 1}) = 3;  // 9e38 is infinite
    const auto direct = ops.run(Convolution::direct), fastest = ops.run(Convolution::fastest);
    for (size_t i = 0; i < direct.size(); ++i) {
      size_t finite = 0;
      for (size_t j = 0; j < direct[i].size(); ++j) {
        if (std::isnan(direct[i][j]))
          ASSERT_TRUE(std::isnan(fastest[i][j])) << "result " << i << ", element " << j;
        else
          ASSERT_EQ(direct[i][j], fastest[i][j]) << "result " << i << ", element " << j;
        finite += std::isfinite(direct[i][j]) ? 1 : 0;
      }
      EXPECT_GT(finite, direct[i].size() / 2) << "result " << i;
      EXPECT_LT(finite, direct[i].size()) << "result " << i;
    }
  }
}

/// A result that is not finite is computed again, with what follows it, from the weight that is not transformed.
TEST(Winograd, NanPassesAConvolutionWithAPrepackedWeight) {
  Ops ops;
  ops.x.at({3, 5, 7, 9}) = NAN;
  const Conv2dOptions same{.padding = 1};
  const auto prepack = op::ConvPrepack::for_images(same, ops.image, ops.w.operand());
  ASSERT_GT(prepack.elements, 0);
  ASSERT_EQ(prepack.layout, 0);
  auto packed = testing::make_array<float>({prepack.elements}, testing::Layout::row_major, ops.random);
  prepack.cpu(ops.w.operand(), packed.operand());
  auto scale = testing::random_array<float>({Ops::kChannels}, testing::Layout::row_major, ops.random, 3);
  std::vector<std::vector<float>> results;
  for (const Convolution algorithm : {Convolution::direct, Convolution::fastest}) {
    const Conv2dOptions options{.padding = 1, .algorithm = algorithm};
    const bool packs = algorithm == Convolution::fastest;
    auto out = testing::make_array<float>(ops.image, testing::Layout::channels_last, ops.random, 7);
    op::ConvScaled{options, true}.cpu(ops.x.operand(), ops.w.operand(), scale.operand(), scale.operand(),
                                      ops.grad.operand(), packs ? packed.operand() : Operand{}, out.operand());
    results.push_back(Ops::values(out));
  }
  int64_t missing = 0;
  for (size_t i = 0; i < results[0].size(); ++i) {
    ASSERT_EQ(std::isnan(results[0][i]), std::isnan(results[1][i])) << i;
    if (std::isnan(results[0][i]))
      ++missing;
    else
      ASSERT_EQ(results[0][i], results[1][i]) << i;
  }
  EXPECT_EQ(missing, 9 * Ops::kChannels);
}

TEST(Winograd, AnEmptyBatchGivesNothingAndZeros) {
  Ops ops;
  ops.image = {0, Ops::kChannels, Ops::kSize, Ops::kSize};
  ops.x = testing::make_array<float>(ops.image, testing::Layout::channels_last, ops.random);
  ops.grad = ops.x;
  const auto results = ops.run(Convolution::fastest);
  EXPECT_TRUE(results[0].empty());
  EXPECT_TRUE(results[1].empty());
  ASSERT_EQ(results[2].size(), size_t{Ops::kChannels * Ops::kChannels * 9});
  for (const float v : results[2]) ASSERT_EQ(v, 0.0f);
}

}  // namespace
}  // namespace weft
