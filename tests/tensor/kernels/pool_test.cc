// Pools and their gradients against naive loops, and what they do with NaN, -inf and padding.
#include "tensor/ops/pool.h"

#include <gtest/gtest.h>

#include <bit>

#include "tensor/core/error.h"
#include "tensor/runtime/threads.h"
#include "tests/reference/pool.h"
#include "tests/tensor/kernels/exact.h"

namespace weft {
namespace {

using testing::Array;
using testing::Layout;
using testing::Random;
namespace reference = testing::reference;

Pool2dOptions random_params(Random& random, bool dilated, const Size2& largest = 4) {
  Pool2dOptions p{.stride = Size2()};
  for (int64_t Size2::*axis : {&Size2::height, &Size2::width}) {
    p.kernel_size.*axis = testing::pick(random, 1, static_cast<int>(largest.*axis));
    (*p.stride).*axis = testing::pick(random, 1, 4);
    p.padding.*axis = testing::pick(random, 0, p.kernel_size.*axis / 2);
    p.dilation.*axis = dilated ? testing::pick(random, 1, 2) : 1;
  }
  return p;
}

Shape random_shape(Random& random) {
  const int64_t channels = testing::pick(random, 0, 4) == 0 ? 70 : testing::pick(random, 1, 9);
  return {testing::pick(random, 1, 3), channels, testing::pick(random, 1, 9), testing::pick(random, 1, 9)};
}

template <class T, class Index> void check_max(const Shape& shape, const Pool2dOptions& p, Random& random) {
  const auto layout = [&](bool broadcast) { return testing::any_layout(random, broadcast); };
  const Shape out_shape = reference::pool_shape(shape, p);
  Array<T> x = testing::random_array<T>(shape, layout(true), random),
           out = testing::make_array<T>(out_shape, layout(false), random);
  Array<T> grad = testing::random_array<T>(out_shape, layout(true), random);
  Array<Index> indices = testing::make_array<Index>(out_shape, layout(false), random);
  Array<T> grad_x = testing::make_array<T>(shape, layout(false), random, static_cast<T>(9.0f));
  Array<T> gathered = testing::make_array<T>(out_shape, layout(false), random);
  Array<T> alone = testing::make_array<T>(out_shape, layout(false), random);
  op::MaxPool2d{p}.cpu(x.operand(), out.operand(), indices.operand());
  op::MaxPool2d{p, /*with_indices=*/false}.cpu(x.operand(), alone.operand(), {});
  op::MaxPool2dBackward{p, shape}.cpu(grad.operand(), indices.operand(), grad_x.operand());
  op::MaxPool2dGather{p}.cpu(x.operand(), indices.operand(), gathered.operand());

  const reference::Array elements = testing::values_of(x), flow = testing::values_of(grad);
  reference::Array sums = reference::zeros(shape);
  int wrong = 0;
  size_t y = 0;
  testing::for_each_index(out_shape, [&](const IntList& o) {
    const auto best = first_maximum(elements, reference::window_of(shape, o.to_vector(), p));
    const double value = best ? elements.values[best->offset] : -std::numeric_limits<double>::infinity();
    wrong += static_cast<double>(out.at(o)) != value;
    wrong += static_cast<double>(alone.at(o)) != value;
    wrong += static_cast<int64_t>(indices.at(o)) != (best ? best->number : std::numeric_limits<Index>::max());
    wrong += static_cast<double>(gathered.at(o)) != (best ? value : 0.0);
    if (best) sums.values[best->offset] += flow.values[y];
    ++y;
  });
  wrong += testing::differences(grad_x, sums);
  EXPECT_EQ(wrong, 0) << "x " << x.view.to_string() << " out " << out.view.to_string() << " kernel " << p.kernel_size[0]
                      << " " << p.kernel_size[1] << " stride " << p.step()[0] << " " << p.step()[1] << " padding "
                      << p.padding[0] << " " << p.padding[1] << " dilation " << p.dilation[0] << " " << p.dilation[1];
}

template <class T> void check_avg(const Shape& shape, const Pool2dOptions& p, Random& random) {
  const auto layout = [&](bool broadcast) { return testing::any_layout(random, broadcast); };
  const Shape out_shape = reference::pool_shape(shape, p);
  Array<T> x = testing::random_array<T>(shape, layout(true), random),
           out = testing::make_array<T>(out_shape, layout(false), random);
  Array<T> grad = testing::random_array<T>(out_shape, layout(true), random);
  Array<T> grad_x = testing::make_array<T>(shape, layout(false), random, static_cast<T>(9.0f));
  op::AvgPool2d{p}.cpu(x.operand(), out.operand());
  op::AvgPool2dBackward{p, shape}.cpu(grad.operand(), grad_x.operand());
  using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const Compute size = static_cast<Compute>(p.kernel_size[0] * p.kernel_size[1]);
  const auto mean = [&](double sum) { return static_cast<double>(static_cast<T>(static_cast<Compute>(sum) / size)); };
  const reference::Array elements = testing::values_of(x), flow = testing::values_of(grad);
  reference::Array means = reference::zeros(out_shape);
  reference::Array slopes =
      reference::flowed_back(shape, out_shape, p, [&](size_t y, auto&, const reference::Tap& tap) {
        means.values[y] += elements.values[tap.offset];
        return flow.values[y];
      });
  for (double& sum : means.values) sum = mean(sum);
  for (double& sum : slopes.values) sum = mean(sum);
  const int wrong = testing::differences(out, means) + testing::differences(grad_x, slopes);
  EXPECT_EQ(wrong, 0) << "x " << x.view.to_string() << " out " << out.view.to_string() << " kernel " << p.kernel_size[0]
                      << " " << p.kernel_size[1] << " stride " << p.step()[0] << " " << p.step()[1] << " padding "
                      << p.padding[0] << " " << p.padding[1];
}

template <class T> void check_random(int count, uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < testing::property_cases(count) && !::testing::Test::HasFailure(); ++i) {
    const Shape shape = random_shape(random);
    Pool2dOptions max_params = random_params(random, true), avg_params = random_params(random, false);
    if (reference::pool_shape(shape, max_params)[2] > 0 && reference::pool_shape(shape, max_params)[3] > 0) {
      if (testing::pick(random, 0, 2) == 0)
        check_max<T, int32_t>(shape, max_params, random);
      else
        check_max<T, uint8_t>(shape, max_params, random);
    }
    if (reference::pool_shape(shape, avg_params)[2] > 0 && reference::pool_shape(shape, avg_params)[3] > 0)
      check_avg<T>(shape, avg_params, random);
  }
}

TEST(Pool, RandomShapesAreExact) { check_random<float>(500, 1); }
TEST(Pool, DoubleIsExact) { check_random<double>(200, 2); }
TEST(Pool, HalvesAreExactUpToOneRounding) {
  check_random<BFloat16>(100, 3);
  check_random<Float16>(50, 4);
}

/// Lines that fill registers: of pixels of one window where it is wide, of windows where channels are few.
template <class T> void check_lines(int count, uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < testing::property_cases(count) && !::testing::Test::HasFailure(); ++i) {
    const Shape shape = {testing::pick(random, 1, 2), testing::pick(random, 1, 9), testing::pick(random, 1, 14),
                         testing::pick(random, 20, 160)};
    const Size2 largest = testing::pick(random, 0, 1) == 0 ? Size2(3, 100) : Size2(12, 9);
    const Pool2dOptions p = random_params(random, testing::pick(random, 0, 2) == 0, largest);
    const Shape out = reference::pool_shape(shape, p);
    if (out[2] > 0 && out[3] > 0) check_max<T, int32_t>(shape, p, random);
  }
}

TEST(Pool, LongLines) {
  check_lines<float>(200, 13);
  check_lines<double>(100, 14);
  check_lines<BFloat16>(50, 15);
}

/// The position of the largest element of a line that is one window. The result is that element, to the sign of a zero.
int64_t first_largest(const std::vector<float>& line) {
  Random random(16);
  const auto width = static_cast<int64_t>(line.size());
  Array<float> x = testing::make_array<float>({1, 1, 1, width}, Layout::row_major, random);
  Array<float> out = testing::make_array<float>({1, 1, 1, 1}, Layout::row_major, random);
  Array<int32_t> index = testing::make_array<int32_t>({1, 1, 1, 1}, Layout::row_major, random);
  for (int64_t i = 0; i < width; ++i) x.at({0, 0, 0, i}) = line[static_cast<size_t>(i)];
  op::MaxPool2d{Pool2dOptions{.kernel_size = {1, width}}}.cpu(x.operand(), out.operand(), index.operand());
  const float value = out.at({0, 0, 0, 0}), found = line[static_cast<size_t>(index.at({0, 0, 0, 0}))];
  op::MaxPool2d{Pool2dOptions{.kernel_size = {1, width}}, /*with_indices=*/false}.cpu(x.operand(), out.operand(), {});
  EXPECT_EQ(std::bit_cast<uint32_t>(out.at({0, 0, 0, 0})), std::bit_cast<uint32_t>(value));
  EXPECT_TRUE(std::isnan(value) ? std::isnan(found) : value == found);
  EXPECT_EQ(std::signbit(value), std::signbit(found));
  return index.at({0, 0, 0, 0});
}

TEST(Pool, TheFirstLargestElementOfAWideWindowCounts) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (size_t width : {90, 160, 201})
    for (size_t first : {size_t{0}, size_t{1}, size_t{17}, size_t{63}, size_t{64}, width - 2})
      for (float value : {3.0f, inf, nan}) {
        std::vector<float> line(width, -1.0f);
        line[first] = line[width - 1] = value;
        EXPECT_EQ(first_largest(line), static_cast<int64_t>(first)) << width << " " << value;
      }
  std::vector<float> zeros(90, -1.0f);
  for (size_t i : {size_t{3}, size_t{4}, size_t{70}}) zeros[i] = i == 4 ? -0.0f : 0.0f;
  EXPECT_EQ(first_largest(zeros), 3);
  zeros[3] = -0.0f;
  EXPECT_EQ(first_largest(zeros), 3);
  EXPECT_EQ(first_largest(std::vector<float>(150, -inf)), 0);
  EXPECT_EQ(first_largest(std::vector<float>(150, nan)), 0);
}

TEST(Pool, LargeOnThreads) {
  Random random(5);
  const Pool2dOptions p{.kernel_size = 3, .stride = 2, .padding = 1};
  check_max<float, uint8_t>({4, 64, 28, 28}, p, random);
  check_avg<float>({4, 64, 28, 28}, p, random);
}

/// One image whose channels are not contiguous is transposed in bands: for three threads, and for the cache.
TEST(Pool, BandsOfOneImage) {
  const int before = num_threads();
  set_num_threads(3);
  for (uint64_t seed = 0; seed < 6; ++seed)
    for (const Shape& shape : {Shape{1, 16, 29, 20}, Shape{1, 64, 60, 50}}) {
      Random random(seed);
      Pool2dOptions p = random_params(random, false);
      check_avg<float>(shape, p, random);
      p.dilation = 2;
      check_max<float, uint8_t>(shape, p, random);
    }
  set_num_threads(before);
}

TEST(Pool, EmptyBatchAndChannels) {
  Random random(6);
  const Pool2dOptions p{.kernel_size = 2, .stride = 1};
  for (const Shape& shape : {Shape{0, 3, 4, 4}, Shape{2, 0, 4, 4}}) {
    check_max<float, uint8_t>(shape, p, random);
    check_avg<float>(shape, p, random);
  }
}

TEST(Pool, IndicesOfLargeWindowsNeedMoreThanAByte) {
  EXPECT_EQ(max_pool2d_index_dtype({.kernel_size = {15, 17}}), u8);  // 255 elements: 0 to 254, and 255 for none
  const Pool2dOptions p{.kernel_size = 16, .stride = 1};
  EXPECT_EQ(max_pool2d_index_dtype(p), i32);
  EXPECT_THROW(max_pool2d_index_dtype({.kernel_size = {1 << 16, 1 << 15}}), ShapeError);
  Random random(7);
  check_max<float, int32_t>({1, 2, 20, 20}, p, random);
}

// Only the taps that lie inside of the image are looked at.
TEST(Pool, WindowsFarLargerThanTheImage) {
  const Pool2dOptions p{.kernel_size = int64_t{1} << 30, .stride = 1, .padding = int64_t{1} << 29};
  Random random(12);
  Array<float> x = testing::make_array<float>({1, 1, 2, 2}, Layout::channels_last, random, 8.0f), grad_x = x;
  Array<float> out = testing::make_array<float>({1, 1, 3, 3}, Layout::channels_last, random);
  op::AvgPool2d{p}.cpu(x.operand(), out.operand());
  op::AvgPool2dBackward{p, x.shape()}.cpu(out.operand(), grad_x.operand());
  const float share = 8.0f / std::ldexp(1.0f, 60);
  EXPECT_EQ(out.at({0, 0, 1, 1}), 4 * share);
  EXPECT_EQ(grad_x.at({0, 0, 1, 1}), 9 * 4 * share / std::ldexp(1.0f, 60));
  const Pool2dOptions line{.kernel_size = {1, int64_t{1} << 30}, .stride = 1, .padding = {0, int64_t{1} << 29}};
  Array<float> pixels = testing::make_array<float>({1, 1, 1, 3}, Layout::row_major, random), spread = pixels;
  Array<float> maxima = testing::make_array<float>({1, 1, 1, 4}, Layout::row_major, random, 1.0f);
  Array<int32_t> indices = testing::make_array<int32_t>({1, 1, 1, 4}, Layout::row_major, random);
  pixels.at({0, 0, 0, 1}) = 5;
  op::MaxPool2d{line}.cpu(pixels.operand(), maxima.operand(), indices.operand());
  EXPECT_EQ(indices.at({0, 0, 0, 3}), (1 << 29) - 2);
  for (int64_t w = 0; w < 4; ++w) maxima.at({0, 0, 0, w}) = 1;
  op::MaxPool2dBackward{line, pixels.shape()}.cpu(maxima.operand(), indices.operand(), spread.operand());
  EXPECT_EQ(spread.at({0, 0, 0, 1}), 4);
}

TEST(Pool, IntegersAreRefused) {
  Random random(8);
  Array<int32_t> x = testing::random_array<int32_t>({1, 1, 2, 2}, Layout::row_major, random);
  EXPECT_THROW(op::AvgPool2d{{.kernel_size = 1}}.cpu(x.operand(), x.operand()), DtypeError);
}

/// The result and index of one 2 x 2 window.
std::pair<float, int> window(float a, float b, float c, float d, int64_t channels) {
  Random random(9);
  Array<float> x = testing::make_array<float>({1, channels, 2, 2}, Layout::channels_last, random);
  Array<float> out = testing::make_array<float>({1, channels, 1, 1}, Layout::channels_last, random);
  Array<uint8_t> indices = testing::make_array<uint8_t>({1, channels, 1, 1}, Layout::channels_last, random);
  const int64_t last = channels - 1;
  x.at({0, last, 0, 0}) = a, x.at({0, last, 0, 1}) = b, x.at({0, last, 1, 0}) = c, x.at({0, last, 1, 1}) = d;
  op::MaxPool2d{Pool2dOptions{.kernel_size = 2}}.cpu(x.operand(), out.operand(), indices.operand());
  const float value = out.at({0, last, 0, 0});
  op::MaxPool2d{Pool2dOptions{.kernel_size = 2}, /*with_indices=*/false}.cpu(x.operand(), out.operand(), {});
  EXPECT_EQ(std::bit_cast<uint32_t>(out.at({0, last, 0, 0})), std::bit_cast<uint32_t>(value));
  return {value, indices.at({0, last, 0, 0})};
}

// Hazard: oneDNN's max-pool ignores NaN and turns windows of NaN or -inf into -3.4028e38.
TEST(KernelHazards, MaxPoolKeepsNanAndMinusInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (int64_t channels : {1, 16, 64}) {
    EXPECT_TRUE(std::isnan(window(1, nan, 3, 2, channels).first));
    EXPECT_EQ(window(1, nan, 3, nan, channels).second, 1);  // the first NaN
    EXPECT_TRUE(std::isnan(window(nan, inf, nan, nan, channels).first));
    EXPECT_EQ(window(nan, inf, nan, nan, channels).second, 0);
    EXPECT_EQ(window(-inf, -inf, -inf, -inf, channels), std::make_pair(-inf, 0));
    EXPECT_EQ(window(-inf, 2, 2, -inf, channels), std::make_pair(2.0f, 1));
  }
}

TEST(Pool, AWindowOfPaddingAloneIsMinusInfinityAndGetsNoGradient) {
  // Taps at -1 and 1 of an axis of size 1.
  const Pool2dOptions p{.kernel_size = 2, .stride = 1, .padding = 1, .dilation = 2};
  Random random(10);
  check_max<float, uint8_t>({1, 3, 1, 1}, p, random);
}

template <class F> std::vector<float> with_threads(int threads, F&& f) {
  const int before = num_threads();
  set_num_threads(threads);
  std::vector<float> result = f();
  set_num_threads(before);
  return result;
}

TEST(Pool, SameBitsAtAnyThreadCount) {
  const Pool2dOptions p{.kernel_size = 3, .stride = 1, .padding = 1};
  const auto run = [&] {
    Random random(11);
    Array<float> grad = testing::random_array<float>({4, 32, 20, 20}, Layout::channels_last, random, 1000);
    for (float& v : grad.memory) v = 1.0f / (v + 0.5f);
    Array<float> grad_x = testing::make_array<float>({4, 32, 20, 20}, Layout::channels_last, random);
    op::AvgPool2dBackward{p, grad_x.shape()}.cpu(grad.operand(), grad_x.operand());
    return grad_x.memory;
  };
  EXPECT_EQ(with_threads(1, run), with_threads(3, run));
}

// One thread scatters the gradient of an image, several collect it: sums of pixels in four windows must not differ.
TEST(Pool, SharedPixelsHaveTheSameGradientAtAnyThreadCount) {
  const Shape shape = {1, 12, 9, 24}, out_shape = {1, 12, 7, 17};
  const MaxWindows windows(shape, Size2(7, 17));
  const auto run = [&] {
    Random random(17);
    Array<float> x = testing::random_array<float>(shape, Layout::channels_last, random, 1000), grad_x = x;
    Array<float> out = testing::make_array<float>(out_shape, Layout::channels_last, random);
    Array<uint8_t> indices = testing::make_array<uint8_t>(out_shape, Layout::channels_last, random);
    op::MaxPool2d{windows}.cpu(x.operand(), out.operand(), indices.operand());
    Array<float> grad = testing::random_array<float>(out_shape, Layout::channels_last, random, 1000);
    for (float& v : grad.memory) v = 1.0f / (v + 0.5f);
    op::MaxPool2dBackward{windows, shape}.cpu(grad.operand(), indices.operand(), grad_x.operand());
    return grad_x.memory;
  };
  EXPECT_EQ(with_threads(1, run), with_threads(3, run));
}

}  // namespace
}  // namespace weft
