// The weight's gradient of convolutions of few channels against a naive loop: small integers, so that every order of
// summation gives the same bits.
#include "tensor/kernels/cpu/window/few_channels_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/core/error.h"
#include "tensor/runtime/threads.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft {
namespace {

using namespace kernels::cpu;
using testing::pick;
using testing::Random;

/// Sizes as (height, width).
struct Sizes {
  int64_t batch, channels, filters;
  Size2 in, kernel, stride = 1, padding = 0;
};

ConvShape shape_of(const Sizes& of) {
  ConvShape s{};
  s.batch = of.batch, s.channels = of.channels, s.filters = of.filters, s.groups = 1;
  s.in = Size3::of(of.in, 1), s.kernel = Size3::of(of.kernel, 1), s.stride = Size3::of(of.stride, 1);
  s.padding = Size3::of(of.padding, 0), s.dilation = Size3(1);
  const auto out = [&](int64_t axis) {
    return (of.in[axis] + 2 * of.padding[axis] - of.kernel[axis]) / of.stride[axis] + 1;
  };
  s.out = Size3(1, out(0), out(1));
  return s;
}

std::string text_of(const ConvShape& s) {
  return text("n ", s.batch, " c ", s.channels, " ", s.in[1], "x", s.in[2], " k ", s.filters, " kernel ", s.kernel[1],
              "x", s.kernel[2], " stride ", s.stride[1], " ", s.stride[2], " padding ", s.padding[1], " ",
              s.padding[2]);
}

/// The weight with filters innermost, as nn keeps it, or outermost.
WeightStrides strides_of(const ConvShape& s, bool filters_inside) {
  const int64_t taps = s.taps();
  if (filters_inside) return {1, s.filters, 1, s.channels * s.kernel[2] * s.filters, s.channels * s.filters};
  return {s.channels * taps, taps, 1, s.kernel[2], 1};
}

struct Operands {
  std::vector<float> x, grad;
  explicit Operands(const ConvShape& s)
      : x(static_cast<size_t>(s.pixels() * s.channels)), grad(static_cast<size_t>(s.out_pixels() * s.filters)) {}
  void draw(Random& random) {
    for (auto* values : {&x, &grad})
      for (float& v : *values) v = static_cast<float>(pick(random, -3, 3));
  }
};

std::vector<float> computed(const ConvShape& s, const Operands& v, bool filters_inside) {
  std::vector<float> w(static_cast<size_t>(s.filters * s.channels * s.taps()), NAN);
  few_channels_conv_backward_weights(s, v.x.data(), v.grad.data(), w.data(), strides_of(s, filters_inside));
  return w;
}

std::vector<float> naive(const ConvShape& s, const Operands& v, bool filters_inside) {
  const WeightStrides strides = strides_of(s, filters_inside);
  std::vector<float> w(static_cast<size_t>(s.filters * s.channels * s.taps()));
  for (int64_t p = 0; p < s.out_pixels(); ++p) {
    const int64_t n = p / (s.out[1] * s.out[2]), top = p / s.out[2] % s.out[1] * s.stride[1] - s.padding[1],
                  left = p % s.out[2] * s.stride[2] - s.padding[2];
    for (int64_t a = std::max<int64_t>(0, -top); a < std::min(s.kernel[1], s.in[1] - top); ++a)
      for (int64_t b = std::max<int64_t>(0, -left); b < std::min(s.kernel[2], s.in[2] - left); ++b)
        for (int64_t c = 0; c < s.channels; ++c)
          for (int64_t o = 0; o < s.filters; ++o)
            w[static_cast<size_t>(o * strides[0] + c * strides[1] + a * strides[3] + b * strides[4])] +=
                v.x[static_cast<size_t>(((n * s.in[1] + top + a) * s.in[2] + left + b) * s.channels + c)] *
                v.grad[static_cast<size_t>(p * s.filters + o)];
  }
  return w;
}

void check(const ConvShape& s, Random& random) {
  ASSERT_TRUE(fits_few_channels(s)) << text_of(s);
  Operands v(s);
  v.draw(random);
  const bool filters_inside = pick(random, 0, 1) == 0;
  EXPECT_EQ(computed(s, v, filters_inside), naive(s, v, filters_inside)) << text_of(s);
}

TEST(FewChannelsConv, RandomShapesAreExact) {
  Random random(1);
  for (int i = 0; i < testing::property_cases(500) && !HasFailure();) {
    const auto pair = [&](int64_t least, int64_t most) {
      const int64_t height = pick(random, least, most);
      return Size2(height, pick(random, least, most));
    };
    const ConvShape s = shape_of(
        {pick(random, 1, 3), pick(random, 1, 4), pick(random, 1, 70), pair(1, 20), pair(1, 8), pair(1, 4), pair(0, 4)});
    if (s.out[1] < 1 || s.out[2] < 1) continue;
    check(s, random);
    ++i;
  }
}

TEST(FewChannelsConv, ExtremeShapesAreExact) {
  Random random(2);
  check(shape_of({2, 3, 16, {2, 3}, {3, 3}, 1, {9, 7}}), random);            // padding larger than the image
  check(shape_of({1, 3, 16, {3, 3}, {3, 3}, {40, 1}, {70, 2}}), random);     // steps from padding to padding
  check(shape_of({1, 4, 8, {3, 6000}, {3, 5}, {1, 2}, 2}), random);          // a line in several pieces
  check(shape_of({1, 4, 8, {900, 3}, {2, 2}, 1, 0}), random);                // a buffer that begins anew
  check(shape_of({2, 1, 33, {1, 3000}, {1, 25}, {1, 4}, {0, 12}}), random);  // a sequence
  check(shape_of({40, 3, 150, {12, 31}, {5, 5}, 1, 2}), random);             // several parts
}

TEST(FewChannelsConv, TheSameBitsAtAnyThreadCount) {
  const int before = num_threads();
  Random random(3);
  for (const ConvShape& s : {shape_of({9, 3, 64, {32, 33}, {7, 7}, 2, 3}), shape_of({5, 1, 20, {40, 70}, {3, 3}})}) {
    Operands v(s);
    v.draw(random);
    for (auto* values : {&v.x, &v.grad})  // real numbers, so that the order of summation shows
      for (float& e : *values) e = 1.0f / (e + 0.3f);
    set_num_threads(1);
    const std::vector<float> one = computed(s, v, true);
    for (const int threads : {2, 3, 5}) {
      set_num_threads(threads);
      EXPECT_EQ(one, computed(s, v, true)) << text_of(s) << ", " << threads << " threads";
    }
  }
  set_num_threads(before);
}

TEST(FewChannelsConv, NanAndInfinityReachTheTapsThatSeeThem) {
  Random random(4);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const ConvShape s = shape_of({2, 3, 40, {9, 11}, {3, 3}, {1, 2}});
    Operands v(s);
    v.draw(random);
    for (float& g : v.grad) g += 4;  // no zero, which infinity would make NaN
    v.x[0] = bad;                    // of the first pixel, which the window's first element sees alone
    const std::vector<float> got = computed(s, v, false), wanted = naive(s, v, false);
    int64_t bad_ones = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(wanted[i]))
        EXPECT_TRUE(std::isnan(got[i])) << i;
      else
        EXPECT_EQ(got[i], wanted[i]) << i;
      bad_ones += std::isfinite(got[i]) ? 0 : 1;
    }
    EXPECT_EQ(bad_ones, s.filters);
  }
}

TEST(FewChannelsConv, SizesDecide) {
  EXPECT_TRUE(prefers_few_channels(shape_of({16, 3, 64, {64, 64}, {7, 7}, 2, 3})));
  EXPECT_TRUE(prefers_few_channels(shape_of({64, 1, 32, {28, 28}, {3, 3}, 1, 1})));
  EXPECT_FALSE(prefers_few_channels(shape_of({64, 3, 64, {8, 8}, {3, 3}, 1, 1})));
  EXPECT_FALSE(prefers_few_channels(shape_of({4, 3, 768, {224, 224}, {16, 16}, 16})));
  EXPECT_FALSE(prefers_few_channels(shape_of({16, 16, 64, {64, 64}, {3, 3}, 1, 1})));
}

}  // namespace
}  // namespace weft
