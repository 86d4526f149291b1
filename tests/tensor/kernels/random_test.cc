// Random fills: each element is a function of key and index alone; distributions are what they claim.
#include "tensor/ops/random.h"

#include <gtest/gtest.h>

#include "tensor/core/random.h"
#include "tensor/ops/dropout.h"
#include "tensor/runtime/threads.h"
#include "tests/reference/random_normal.h"
#include "tests/tensor/kernels/any_array.h"

namespace weft::testing {
namespace {

using reference::normal_element;

constexpr RandomKey kKey{42, 1000};

void draw(op::Distribution distribution, const Operand& out, RandomKey key = kKey, int64_t low = 0, int64_t high = 0) {
  op::RandomFill{distribution, out.shape(), out.dtype, low, high, key.seed, key.offset}.cpu(out);
}
void uniform(const Operand& out) { draw(op::Distribution::uniform, out); }
void normal(const Operand& out) { draw(op::Distribution::normal, out); }
void randint(int64_t low, int64_t high, const Operand& out) { draw(op::Distribution::integers, out, kKey, low, high); }
void randperm(RandomKey key, const Operand& out) { draw(op::Distribution::permutation, out, key); }

template <class Kernel> std::vector<double> drawn(const Shape& shape, DType dtype, Layout layout, Kernel&& kernel) {
  Random random(1);
  AnyArray out(shape, dtype, layout, random);
  kernel(out.operand());
  std::vector<double> values;
  for_each_index(shape, [&](const IntList& index) { values.push_back(out.get(index)); });
  return values;
}

TEST(RandomKernels, UniformIsTheStreamOfItsKey) {
  for (const Shape& shape : std::vector<Shape>{{}, {0}, {1003}, {7, 9}, {33, 70}, {2, 3, 5, 7}}) {
    for (const Layout layout : kDistinctLayouts) {
      const auto single = drawn(shape, f32, layout, uniform), wide = drawn(shape, f64, layout, uniform);
      const auto single_normal = drawn(shape, f32, layout, normal), wide_normal = drawn(shape, f64, layout, normal);
      for (size_t i = 0; i < single.size(); ++i) {
        ASSERT_EQ(single[i], static_cast<double>(uniform_element<float>(kKey, i))) << i;
        ASSERT_EQ(wide[i], uniform_element<double>(kKey, i)) << i;
        ASSERT_NEAR(single_normal[i], static_cast<double>(normal_element<float>(kKey, i)), 2e-6) << i;
        ASSERT_EQ(wide_normal[i], normal_element<double>(kKey, i)) << i;
      }
    }
  }
}

TEST(RandomKernels, SameBitsInAnyMemoryOrderAndAtAnyThreadCount) {
  const int before = num_threads();
  std::vector<std::vector<double>> runs;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    for (const Layout layout : {Layout::row_major, Layout::permuted, Layout::reversed})
      runs.push_back(drawn({201, 333}, f32, layout, normal));
  }
  set_num_threads(before);
  for (const auto& run : runs) EXPECT_EQ(run, runs[0]);
}

TEST(RandomKernels, Moments) {
  constexpr int64_t kCount = 1 << 20;
  for (const DType dtype : kFloatingDtypes) {
    const auto u = drawn({kCount}, dtype, Layout::row_major, uniform);
    const auto z = drawn({kCount}, dtype, Layout::row_major, normal);
    double mean = 0, mean_z = 0, square = 0, fourth = 0, product = 0, largest = 0;
    for (size_t i = 0; i < u.size(); ++i) {
      ASSERT_TRUE(u[i] >= 0 && u[i] < 1) << text(dtype);
      ASSERT_TRUE(std::isfinite(z[i]));
      mean += u[i] / kCount, mean_z += z[i] / kCount, square += z[i] * z[i] / kCount;
      fourth += z[i] * z[i] * z[i] * z[i] / kCount;
      product += i > 0 ? z[i] * z[i - 1] / kCount : 0;
      largest = std::max(largest, std::fabs(z[i]));
    }
    EXPECT_NEAR(mean, 0.5, dtype == bf16 ? 4e-3 : 2e-3) << text(dtype);
    EXPECT_NEAR(mean_z, 0, 5e-3);
    EXPECT_NEAR(square, 1, 1e-2);
    EXPECT_NEAR(fourth, 3, 0.05);
    EXPECT_NEAR(product, 0, 5e-3);
    EXPECT_GT(largest, 4.3);
  }
}

TEST(RandomKernels, RandintCoversItsRangeEvenly) {
  for (const DType dtype : {i64, i32, i16, i8, f32}) {
    const auto x = drawn({70000}, dtype, Layout::row_major, [](const Operand& out) { randint(-3, 4, out); });
    std::vector<int> counts(7);
    for (const double value : x) {
      ASSERT_TRUE(value >= -3 && value < 4 && value == std::trunc(value));
      ++counts[static_cast<size_t>(value + 3)];
    }
    for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
  }
  const View view = View::contiguous({1000});
  std::vector<int64_t> wide(1000);
  randint(INT64_MIN, INT64_MAX, {wide.data(), &view, i64});
  EXPECT_TRUE(std::any_of(wide.begin(), wide.end(), [](int64_t x) { return x < -(int64_t{1} << 62); }));
  EXPECT_TRUE(std::any_of(wide.begin(), wide.end(), [](int64_t x) { return x > int64_t{1} << 62; }));
}

/// Number `index` of 64 bits of the stream.
uint64_t wide_bits(int64_t index) {
  const auto block = random_block(kKey, static_cast<uint64_t>(index / 2));
  const size_t at = index % 2 == 0 ? 0 : 2;
  return uint64_t{block[at + 1]} << 32 | block[at];
}

// What a seed gave ever since: 64 bits, times the range, over 2^64.
TEST(RandomKernels, RandintAndRandpermScaleTheStream) {
  __extension__ using Wide = unsigned __int128;
  constexpr int64_t kCount = 1000;
  const View view = View::contiguous({kCount});
  std::vector<int64_t> x(kCount);
  for (const int64_t range : {int64_t{7}, int64_t{1} << 32, int64_t{1} << 40, (int64_t{1} << 32) - 1}) {
    randint(-3, range - 3, {x.data(), &view, i64});
    for (int64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(x[static_cast<size_t>(i)],
                static_cast<int64_t>((Wide{wide_bits(i)} * static_cast<uint64_t>(range)) >> 64) - 3);
  }
  std::vector<int64_t> want(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    const auto j = static_cast<size_t>((Wide{wide_bits(i)} * static_cast<uint64_t>(i + 1)) >> 64);
    want[static_cast<size_t>(i)] = want[j], want[j] = i;
  }
  randperm(kKey, {x.data(), &view, i64});
  EXPECT_EQ(x, want);
}

TEST(RandomKernels, RandpermIsAPermutationAndNoneIsFavored) {
  for (const int64_t count : {0, 1, 2, 1000}) {
    auto x = drawn({count}, i64, Layout::row_major, [](const Operand& out) { randperm(kKey, out); });
    std::sort(x.begin(), x.end());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], static_cast<double>(i));
  }
  std::vector<int> counts(27);
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const auto x = drawn({3}, i64, Layout::row_major, [&](const Operand& out) { randperm({seed, 0}, out); });
    ++counts[static_cast<size_t>(x[0] * 9 + x[1] * 3 + x[2])];
  }
  for (const int count : counts) EXPECT_TRUE(count == 0 || (count > 850 && count < 1150)) << count;
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), 21);
}

TEST(RandomKernels, DropoutDropsTheSameElementsForTheSameKey) {
  const Shape shape = {50, 60, 20};
  Random random(2);
  for (const DType dtype : kFloatingDtypes) {
    for (const double p : {0.0, 0.25, 0.5, 0.9, 1.0}) {
      std::vector<bool> pattern;
      for (const Layout layout : {Layout::row_major, Layout::permuted, Layout::gaps}) {
        AnyArray x(shape, dtype, layout, random), out(shape, dtype, kDistinctLayouts[pick(random, 0, 3)], random);
        x.fill([&] { return static_cast<double>(pick(random, 1, 3)); });
        op::Dropout{p, kKey.seed, kKey.offset}.cpu(x.operand(), out.operand());
        std::vector<bool> kept;
        for_each_index(shape, [&](const IntList& index) {
          kept.push_back(out.get(index) != 0);
          if (!kept.back()) return;
          ASSERT_TRUE(close(out.get(index), x.get(index) / (1 - p), 2 * precision_of(dtype))) << text(dtype, " ", p);
        });
        if (pattern.empty()) pattern = kept;
        EXPECT_EQ(kept, pattern) << "the pattern belongs to logical indices, not to memory";
        EXPECT_NEAR(static_cast<double>(std::count(kept.begin(), kept.end(), true)) / 60000, 1 - p, 0.01);
      }
    }
  }
}

TEST(RandomKernels, RefuseIntegersWhereOnlyRealsMakeSense) {
  const View view;
  int64_t x = 0;
  EXPECT_THROW(uniform({&x, &view, i64}), DtypeError);
  EXPECT_THROW(normal({&x, &view, i64}), DtypeError);
}

}  // namespace
}  // namespace weft::testing
