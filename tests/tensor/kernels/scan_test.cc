// Scans of long lines: exact sums, and the same bits at any thread count.
#include "tensor/functions/scan.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "tensor/core/random.h"
#include "tensor/functions/advanced_index.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/runtime/threads.h"

namespace weft {
namespace {

constexpr int64_t kLong = 300007;

uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }

TEST(CumulativeExtremum, FindsEveryNewOneOfALine) {
  manual_seed(5);
  // Steps of all sizes, equals, and a NaN, in lines of a few hundred.
  Tensor x = floor(randn({7, 300}) * 3.0 + randn({7, 1}) * arange(0, 3, 0.01));
  x[2][150].fill_(NAN);
  x[3][0].fill_(NAN);
  x[4].fill_(2);
  const auto values = x.to_vector<float>();
  const auto found = cummax(x, 1), least = cummin(x, 1);
  const auto maxima = found.values.to_vector<float>(), minima = least.values.to_vector<float>();
  const auto highest = found.indices.to_vector<int64_t>(), lowest = least.indices.to_vector<int64_t>();
  for (size_t line = 0; line < 7; ++line) {
    size_t top = 0, bottom = 0;
    for (size_t i = 0; i < 300; ++i) {
      const auto at = [&](size_t j) { return values[line * 300 + j]; };
      if (at(i) >= at(top) || std::isnan(at(i))) top = i;
      if (at(i) <= at(bottom) || std::isnan(at(i))) bottom = i;
      ASSERT_EQ(highest[line * 300 + i], static_cast<int64_t>(top)) << line << ", " << i;
      ASSERT_EQ(lowest[line * 300 + i], static_cast<int64_t>(bottom)) << line << ", " << i;
      ASSERT_EQ(bits_of(maxima[line * 300 + i]), bits_of(values[line * 300 + top]));
      ASSERT_EQ(bits_of(minima[line * 300 + i]), bits_of(values[line * 300 + bottom]));
    }
  }
}

TEST(CumulativeExtremum, FindsTheLastOfEqualIntegers) {
  manual_seed(6);
  for (const DType dtype : {i64, i32, i16, i8, u8, boolean})
    for (const int64_t length : {1, 5, 12, 20, 33, 300}) {
      Tensor x = randint(0, 3, {6, length}).to(dtype);
      x[1].fill_(dtype == boolean ? 1 : 127);
      if (is_integer(dtype) && dtype != u8) x[2].fill_(-128), x[3].sub_(2);
      const auto values = x.to_vector<double>();
      const auto found = cummax(x, 1), least = cummin(x, 1);
      const auto maxima = found.values.to_vector<double>(), minima = least.values.to_vector<double>();
      const auto highest = found.indices.to_vector<int64_t>(), lowest = least.indices.to_vector<int64_t>();
      for (size_t i = 0, top = 0, bottom = 0; i < values.size(); ++i) {
        const size_t line = i - i % static_cast<size_t>(length);
        if (i == line || values[i] >= values[top]) top = i;
        if (i == line || values[i] <= values[bottom]) bottom = i;
        ASSERT_EQ(highest[i], static_cast<int64_t>(top - line)) << dtype << " " << length << ", " << i;
        ASSERT_EQ(lowest[i], static_cast<int64_t>(bottom - line)) << dtype << " " << length << ", " << i;
        ASSERT_EQ(maxima[i], values[top]);
        ASSERT_EQ(minima[i], values[bottom]);
      }
    }
}

TEST(Cumprod, LinesSideBySideAreThoseOfEach) {
  manual_seed(6);
  const Tensor x = randn({11, 50}, f64);
  const auto all = cumprod(x, 1).to_vector<double>();
  for (int64_t line = 0; line < 11; ++line) {
    const auto one = cumprod(x[line], 0).to_vector<double>();
    EXPECT_EQ(one, std::vector<double>(all.begin() + line * 50, all.begin() + (line + 1) * 50)) << line;
  }
}

/// The scans of each line of x alone.
void check_lines(const Tensor& x, int64_t axis) {
  const Tensor lines = movedim(x, axis, -1).reshape({-1, x.size(axis)});
  const auto all = [&](const Tensor& y) { return movedim(y, axis, -1).reshape(lines.shape()); };
  const Tensor sums = all(cumsum(x, axis)), products = all(cumprod(x, axis));
  const auto found = cummax(x, axis);
  const Tensor largest = all(found.values), positions = all(found.indices);
  for (int64_t line = 0; line < lines.size(0); ++line) {
    double sum = 0, product = 1, top = -INFINITY;
    int64_t position = 0;
    for (int64_t i = 0; i < lines.size(1); ++i) {
      const double value = lines[line][i].item();
      sum += value, product *= value;
      if (value >= top) top = value, position = i;
      const std::string where = text(x.dtype(), " ", x.shape(), ", axis ", axis, ", line ", line, ", ", i);
      ASSERT_EQ(sums[line][i].item(), sum) << where;
      ASSERT_EQ(products[line][i].item(), product) << where;
      ASSERT_EQ(largest[line][i].item(), top) << where;
      ASSERT_EQ(positions[line][i].item<int64_t>(), position) << where;
    }
  }
}

TEST(Scan, FewLinesAndShortOnes) {  // values whose sums and products are exact in 16 bits
  manual_seed(7);
  for (const DType dtype : {f32, f64, bf16, f16, i64, i8})
    for (const Shape& shape : {Shape{9, 2}, {7, 10}, {6, 17}, {5, 33}, {40, 3}, {33, 1}, {3, 5, 4}, {2, 40, 31}}) {
      const Tensor x = (randint(0, 2, shape) * 2 - 1).to(dtype);
      for (int64_t axis = 0; axis < x.rank(); ++axis) {
        check_lines(x, axis);
        check_lines(stack({x, x}, -1).select(-1, 0), axis);
        check_lines(x.transpose(0, 1), axis);
        check_lines(x.index({Ellipsis, Slice(None, None, -1)}), axis);
      }
    }
}

TEST(Scan, InterleavedLines) {  // in tiles of whole runs, of which the last is not full, and of halves, rows at once
  manual_seed(8);
  for (const DType dtype : {f32, bf16, f16, i64, u8, boolean})
    for (const Shape& shape : {Shape{19, 3, 4}, {37, 4, 3}, {17, 8, 16}, {2, 8, 17}, {3, 5, 2, 3}, {70, 4}, {33, 5}}) {
      const Tensor x = randint(0, 2, shape).to(dtype);
      for (int64_t axis = 0; axis + 1 < x.rank(); ++axis) {
        check_lines(x, axis);
        check_lines(expand(x.narrow(0, 0, 1), shape), axis);
        check_lines(cat({x, x}, 0).index({Slice(None, None, 2)}), axis);
        check_lines(cat({x, x}, -1).narrow(-1, 1, shape.back()), axis);
        check_lines(x.index({Slice(None, None, -1)}), axis);
      }
    }
}

TEST(Cumsum, LongLinesAreExactForIntegers) {
  const Tensor x = arange(kLong);
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    const std::vector<int64_t> sums = cumsum(x, 0).to_vector<int64_t>();
    for (int64_t i = 0; i < kLong; ++i) ASSERT_EQ(sums[static_cast<size_t>(i)], i * (i + 1) / 2);
  }
  set_num_threads(2);
}

TEST(Cumsum, HasTheSameBitsAtAnyThreadCount) {
  manual_seed(3);
  for (const Tensor& x : {randn({kLong}), randn({kLong}, f64), randn({3, 100000}, f64), randn({1000, 300}),
                          randn({kLong}).to(bf16), flip(randn({kLong}), {0})}) {
    for (int64_t axis = 0; axis < x.rank(); ++axis) {
      set_num_threads(1);
      const Tensor expected = cumsum(x, axis);
      for (const int threads : {2, 3, 5}) {
        set_num_threads(threads);
        const Tensor found = cumsum(x, axis);
        const size_t bytes = static_cast<size_t>(x.numel()) * size_of(x.dtype());
        EXPECT_EQ(std::memcmp(internal::raw(found), internal::raw(expected), bytes), 0) << threads;
      }
    }
  }
  set_num_threads(2);
}

TEST(Cumsum, KeepsDigitsOfLongLines) {
  const Tensor sums = cumsum(full({1 << 20}, 0.1, f32), 0);
  EXPECT_FLOAT_EQ(sums[(1 << 20) - 1].item<float>(), static_cast<float>((1 << 20) * static_cast<double>(0.1f)));
}

TEST(Cumsum, NanAndInfinityReachWhatFollows) {
  Tensor x = ones({20000});
  x[9000].fill_(INFINITY);
  x[15000].fill_(-INFINITY);
  const Tensor sums = cumsum(x, 0);
  EXPECT_EQ(sums[8999].item<float>(), 9000);
  EXPECT_EQ(sums[9000].item<float>(), INFINITY);
  EXPECT_EQ(sums[14999].item<float>(), INFINITY);
  EXPECT_TRUE(std::isnan(sums[15000].item<float>()));
  EXPECT_TRUE(std::isnan(sums[19999].item<float>()));
}

}  // namespace
}  // namespace weft
