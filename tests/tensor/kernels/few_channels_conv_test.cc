// Convolutions of few channels in all directions against naive loops: small integers, so that every order of summation
// gives the same bits.
#include "tensor/kernels/cpu/window/few_channels_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

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
  int64_t groups = 1;
};

ConvShape shape_of(const Sizes& of) {
  ConvShape s{};
  s.batch = of.batch, s.channels = of.channels, s.filters = of.filters, s.groups = of.groups;
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
              "x", s.kernel[2], " stride ", s.stride[1], " ", s.stride[2], " padding ", s.padding[1], " ", s.padding[2],
              " groups ", s.groups);
}

/// The weight with filters innermost, as nn keeps it, or outermost.
WeightStrides strides_of(const ConvShape& s, bool filters_inside) {
  const int64_t taps = s.taps(), channels = s.group_channels();
  if (filters_inside) return {1, s.filters, 1, channels * s.kernel[2] * s.filters, channels * s.filters};
  return {channels * taps, taps, 1, s.kernel[2], 1};
}

template <class T> struct Operands {
  std::vector<T> x, grad, weight, bias;
  explicit Operands(const ConvShape& s)
      : x(static_cast<size_t>(s.pixels() * s.channels)),
        grad(static_cast<size_t>(s.out_pixels() * s.filters)),
        weight(static_cast<size_t>(s.filters * s.group_channels() * s.taps())),
        bias(static_cast<size_t>(s.filters)) {}
  void draw(Random& random) {
    for (auto* values : {&x, &grad, &weight, &bias})
      for (T& v : *values) v = static_cast<T>(pick(random, -3, 3));
  }
};

/// f(place in x, in the result, in the weight, channel of the result) for every product of a convolution.
template <class F> void for_products(const ConvShape& s, bool filters_inside, const F& f) {
  const WeightStrides strides = strides_of(s, filters_inside);
  const int64_t channels = s.group_channels();
  for (int64_t p = 0; p < s.out_pixels(); ++p) {
    const int64_t n = p / (s.out[1] * s.out[2]), top = p / s.out[2] % s.out[1] * s.stride[1] - s.padding[1],
                  left = p % s.out[2] * s.stride[2] - s.padding[2];
    for (int64_t a = std::max<int64_t>(0, -top); a < std::min(s.kernel[1], s.in[1] - top); ++a)
      for (int64_t b = std::max<int64_t>(0, -left); b < std::min(s.kernel[2], s.in[2] - left); ++b)
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t o = 0; o < s.filters; ++o)
            f(static_cast<size_t>(((n * s.in[1] + top + a) * s.in[2] + left + b) * s.channels +
                                  o / s.group_filters() * channels + c),
              static_cast<size_t>(p * s.filters + o),
              static_cast<size_t>(o * strides[0] + c * strides[1] + a * strides[3] + b * strides[4]));
  }
}

template <class T> std::vector<T> unwritten(const std::vector<T>& like) { return std::vector<T>(like.size(), NAN); }

template <class T> std::vector<T> computed(const ConvShape& s, const Operands<T>& v, bool filters_inside) {
  std::vector<T> w = unwritten(v.weight);
  few_channels_conv_backward_weights(s, v.x.data(), v.grad.data(), w.data(), strides_of(s, filters_inside));
  return w;
}
template <class T> std::vector<T> naive(const ConvShape& s, const Operands<T>& v, bool filters_inside) {
  std::vector<T> w(v.weight.size());
  for_products(s, filters_inside, [&](size_t x, size_t out, size_t at) { w[at] += v.x[x] * v.grad[out]; });
  return w;
}

std::vector<double> forward(const ConvShape& s, const Operands<double>& v, bool filters_inside, bool biased) {
  std::vector<double> out = unwritten(v.grad);
  few_channels_conv(s, v.x.data(), v.weight.data(), strides_of(s, filters_inside), biased ? v.bias.data() : nullptr,
                    out.data());
  return out;
}
std::vector<double> gradient_of_data(const ConvShape& s, const Operands<double>& v, bool filters_inside) {
  std::vector<double> x = unwritten(v.x);
  few_channels_conv_backward_data(s, v.grad.data(), v.weight.data(), strides_of(s, filters_inside), x.data());
  return x;
}

/// The result, and the gradient of x where it is one of these convolutions.
void check_images(const ConvShape& s, const Operands<double>& v, bool filters_inside, bool biased) {
  std::vector<double> out(v.grad.size()), x(v.x.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = biased ? v.bias[i % v.bias.size()] : 0;
  for_products(s, filters_inside, [&](size_t at, size_t to, size_t w) {
    out[to] += v.x[at] * v.weight[w];
    x[at] += v.grad[to] * v.weight[w];
  });
  EXPECT_EQ(forward(s, v, filters_inside, biased), out) << text_of(s);
  if (fits_few_channels(s, ConvDirection::backward_data)) {
    EXPECT_EQ(gradient_of_data(s, v, filters_inside), x) << text_of(s);
  }
}

void check(const ConvShape& s, Random& random) {
  ASSERT_TRUE(fits_few_channels(s, ConvDirection::forward)) << text_of(s);
  const bool filters_inside = pick(random, 0, 1) == 0, biased = pick(random, 0, 1) == 0;
  Operands<float> v(s);
  v.draw(random);
  EXPECT_EQ(computed(s, v, filters_inside), naive(s, v, filters_inside)) << text_of(s);
  Operands<double> wide(s);
  wide.draw(random);
  EXPECT_EQ(computed(s, wide, filters_inside), naive(s, wide, filters_inside)) << text_of(s);
  check_images(s, wide, filters_inside, biased);
}

TEST(FewChannelsConv, RandomShapesAreExact) {
  Random random(1);
  for (int i = 0; i < testing::property_cases(500) && !HasFailure();) {
    const auto pair = [&](int64_t least, int64_t most) {
      const int64_t height = pick(random, least, most);
      return Size2(height, pick(random, least, most));
    };
    const int64_t groups = pick(random, 0, 2) == 0 ? pick(random, 2, 4) : 1;
    const int64_t channels = groups * pick(random, 1, groups > 1 ? 3 : 10);
    const int64_t filters = groups * pick(random, 1, groups > 1 ? 6 : 70);
    const Size2 stride = pick(random, 0, 1) == 0 ? Size2(1) : pair(1, 4);
    const ConvShape s =
        shape_of({pick(random, 1, 3), channels, filters, pair(1, 20), pair(1, 8), stride, pair(0, 4), groups});
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
  check(shape_of({10, 3, 40, {12, 31}, {5, 5}, 1, 2}), random);              // several parts
  check(shape_of({9, 8, 24, {40, 70}, {3, 3}, 1, 1, 2}), random);            // several parts of each group
}

/// All results for real numbers, whose order of summation shows.
std::pair<std::vector<float>, std::vector<double>> all_of(const ConvShape& s) {
  Random random(3);
  const auto fill = [&]<class T>(Operands<T>& v) {
    v.draw(random);
    for (auto* values : {&v.x, &v.grad, &v.weight})
      for (T& e : *values) e = 1 / (e + static_cast<T>(0.3));
  };
  Operands<float> v(s);
  Operands<double> wide(s);
  fill(v), fill(wide);
  std::vector<double> all = computed(s, wide, true);
  const std::vector<double> out = forward(s, wide, true, true);
  all.insert(all.end(), out.begin(), out.end());
  if (!fits_few_channels(s, ConvDirection::backward_data)) return {computed(s, v, true), all};
  const std::vector<double> x = gradient_of_data(s, wide, true);
  all.insert(all.end(), x.begin(), x.end());
  return {computed(s, v, true), all};
}

TEST(FewChannelsConv, TheSameBitsAtAnyThreadCount) {
  const int before = num_threads();
  for (const ConvShape& s : {shape_of({9, 3, 64, {32, 33}, {7, 7}, 2, 3}), shape_of({5, 1, 20, {40, 70}, {3, 3}}),
                             shape_of({5, 8, 12, {40, 30}, {3, 3}, 1, 1, 4})}) {
    set_num_threads(1);
    const auto one = all_of(s);
    for (const int threads : {2, 3, 5}) {
      set_num_threads(threads);
      EXPECT_EQ(one, all_of(s)) << text_of(s) << ", " << threads << " threads";
    }
  }
  set_num_threads(before);
}

TEST(FewChannelsConv, NanAndInfinityReachTheTapsThatSeeThem) {
  Random random(4);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const ConvShape s = shape_of({2, 3, 40, {9, 11}, {3, 3}, {1, 2}});
    Operands<float> v(s);
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
  const auto prefers = []<class T>(T, const Sizes& of, ConvDirection direction = ConvDirection::backward_weights) {
    return prefers_few_channels<T>(shape_of(of), direction);
  };
  EXPECT_TRUE(prefers(1.0f, {16, 3, 64, {64, 64}, {7, 7}, 2, 3}));
  EXPECT_TRUE(prefers(1.0f, {64, 1, 32, {28, 28}, {3, 3}, 1, 1}));
  EXPECT_FALSE(prefers(1.0f, {64, 1, 32, {28, 28}, {3, 3}, 1, 1}, ConvDirection::forward));
  EXPECT_FALSE(prefers(1.0f, {64, 3, 64, {8, 8}, {3, 3}, 1, 1}));
  EXPECT_FALSE(prefers(1.0f, {4, 3, 768, {224, 224}, {16, 16}, 16}));
  EXPECT_FALSE(prefers(1.0f, {16, 16, 64, {64, 64}, {3, 3}, 1, 1}));
  EXPECT_TRUE(prefers(1.0, {16, 8, 8, {32, 32}, {3, 3}, 1, 1}));
  EXPECT_TRUE(prefers(1.0, {16, 32, 32, {32, 32}, {3, 3}, 1, 1, 8}));
  EXPECT_FALSE(prefers(1.0, {4, 128, 128, {14, 14}, {3, 3}, 1, 1}));
  EXPECT_FALSE(prefers(1.0, {4, 8, 8, {14, 14}, {1, 1}}));
  EXPECT_TRUE(prefers(1.0, {4, 8, 8, {14, 14}, {3, 3}, 1, 1}, ConvDirection::backward_data));
  EXPECT_FALSE(prefers(1.0, {4, 8, 8, {14, 14}, {3, 3}, 2, 1}, ConvDirection::backward_data));  // strides
  EXPECT_FALSE(prefers(1.0, {4, 8, 8, {14, 14}, {3, 3}, 1, 3}, ConvDirection::backward_data));  // much padding
}

}  // namespace
}  // namespace weft
