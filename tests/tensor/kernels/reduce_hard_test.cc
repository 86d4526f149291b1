// The numerically hard cases of reductions (each one a way in which a library is known to fail), and equal bits at any
// thread count.
#include <gtest/gtest.h>

#include "tensor/ops/reduce.h"
#include "tensor/runtime/denormals.h"
#include "tests/reference/rows.h"
#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <class T, class F> double reduced(std::vector<T> values, const F& f) {
  Array<T> x{std::move(values), View()};
  x.view = View::contiguous({static_cast<int64_t>(x.memory.size())});
  Array<T> out{{T(0)}, View::contiguous({1})};
  f(x.operand(), IntList{0}, out.operand());
  return static_cast<double>(out.memory[0]);
}
template <class Op> void fold(const Operand& x, const IntList& axes, const Operand& out) {
  Op op;
  op.axes = axes;
  op.keepdim = true;
  op.cpu(x, out);
}
const auto kVariance = [](const auto& x, const auto& axes, const auto& out) { op::Var{axes, 0, true}.cpu(x, out); };
const auto kNorm = [](const auto& x, const auto& axes, const auto& out) { op::Norm{2, axes, true}.cpu(x, out); };

TEST(ReduceHard, SumOf64MillionTenths) {
  const size_t count = size_t{1} << 26;
  const double want = static_cast<double>(0.1f) * static_cast<double>(count);
  std::vector<float> values(count, 0.1f);
  EXPECT_NEAR(reduced(values, fold<op::Sum>) / want, 1, 1.5e-7);
  // Down the columns, wide and narrow ones.
  for (int64_t columns : {int64_t{1} << 13, int64_t{8}}) {
    const int64_t rows = static_cast<int64_t>(count) / columns;
    Array<float> out{std::vector<float>(static_cast<size_t>(columns)), View::contiguous({1, columns})};
    const View view = View::contiguous({rows, columns});
    fold<op::Sum>({values.data(), &view, f32}, {0}, out.operand());
    for (float got : out.memory) EXPECT_NEAR(got / (want / static_cast<double>(columns)), 1, 1.5e-7);
  }
}

TEST(ReduceHard, SumOfManyOnesIsExact) {
  EXPECT_EQ(reduced(std::vector<float>(size_t{1} << 25, 1.0f), fold<op::Sum>), 33554432.0);
}

TEST(ReduceHard, HalvesAreSummedInFloat) {
  EXPECT_EQ(reduced(std::vector<BFloat16>(1024, BFloat16(1.0f)), fold<op::Sum>), 1024.0);
  EXPECT_EQ(reduced(std::vector<Float16>(4096, Float16(1.0f)), fold<op::Sum>), 4096.0);
}

TEST(ReduceHard, VarianceFarFromZero) {
  std::vector<float> values(100000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 1e6f + 0.5f : 1e6f - 0.5f;
  EXPECT_NEAR(reduced(values, kVariance), 0.25, 1e-6);
  const View view = View::contiguous({25000, 4});
  Array<float> out{std::vector<float>(4), View::contiguous({1, 4})};
  for (size_t i = 0; i < values.size(); ++i) values[i] = i / 4 % 2 == 0 ? 1e6f + 0.5f : 1e6f - 0.5f;
  kVariance(Operand{values.data(), &view, f32}, IntList{0}, out.operand());
  for (float got : out.memory) EXPECT_NEAR(got, 0.25, 1e-6);
}

// One pass about a value that four elements give: those four are the ones that mislead it here, in rows and in columns.
TEST(ReduceHard, VarianceWithOutliersWhereTheMeanIsGuessed) {
  constexpr size_t kCount = 4096, kWidth = 40, kBad = 17;
  std::vector<float> good(kCount);
  for (size_t i = 0; i < kCount; ++i) good[i] = 100.0f + 0.01f * static_cast<float>(i % 7);
  for (const float outlier : {1e4f, 3e38f, kInf, kNaN}) {
    std::vector<float> bad = good, table(kCount * kWidth);
    for (size_t i : {size_t{0}, kCount / 4, kCount / 2, kCount - 1}) bad[i] = outlier;
    for (size_t i = 0; i < kCount; ++i)
      for (size_t j = 0; j < kWidth; ++j) table[i * kWidth + j] = j == kBad ? bad[i] : good[i];
    const auto expect_variance = [&](double got, const std::vector<float>& of) {
      const double want = reference::variance(reference::Row(of.begin(), of.end()), 0);
      if (std::fabs(want) <= 3e38) {
        EXPECT_NEAR(got / want, 1, 1e-5) << outlier;
      } else {
        EXPECT_FALSE(std::isfinite(got)) << outlier;
      }
    };
    expect_variance(reduced(bad, kVariance), bad);
    const View view = View::contiguous({kCount, kWidth});
    Array<float> out{std::vector<float>(kWidth), View::contiguous({1, kWidth})};
    kVariance(Operand{table.data(), &view, f32}, IntList{0}, out.operand());
    for (size_t j = 0; j < kWidth; ++j) expect_variance(out.memory[j], j == kBad ? bad : good);
  }
}

// Squares vanish in f32, and so does the variance, but not its root, even if all sums of deviations are 0.
TEST(ReduceHard, DeviationsWhoseSquaresVanish) {
  constexpr size_t kWidth = 300;
  const auto deviation = [](const auto& x, const auto& axes, const auto& out) {
    op::Var{axes, 0, true, true}.cpu(x, out);
  };
  for (const size_t count : {size_t{10}, size_t{64}, size_t{100}, size_t{9000}}) {
    std::vector<float> values(count), table(count * kWidth);
    for (size_t i = 0; i < count; ++i) values[i] = i % 2 == 0 ? 1e-23f : -1e-23f;
    for (size_t i = 0; i < table.size(); ++i) table[i] = values[i / kWidth];
    EXPECT_NEAR(reduced(values, deviation) / 1e-23, 1, 1e-5) << count;
    const View view = View::contiguous({static_cast<int64_t>(count), kWidth});
    Array<float> out{std::vector<float>(kWidth), View::contiguous({1, kWidth})};
    deviation(Operand{table.data(), &view, f32}, IntList{0}, out.operand());
    for (float got : out.memory) EXPECT_NEAR(got / 1e-23, 1, 1e-5) << count;
  }
  EXPECT_EQ(reduced(std::vector<float>(100), deviation), 0);
}

TEST(ReduceHard, NaNWinsWhereverItIs) {
  for (size_t position : {0u, 5u, 15u, 16u, 127u, 128u, 9000u, 19999u}) {
    std::vector<float> values(20000, 1.0f);
    values[position] = kNaN;
    EXPECT_TRUE(std::isnan(reduced(values, fold<op::Max>))) << position;
    EXPECT_TRUE(std::isnan(reduced(values, fold<op::Min>))) << position;
    EXPECT_TRUE(std::isnan(reduced(values, fold<op::Logsumexp>))) << position;
    EXPECT_TRUE(std::isnan(reduced(values, kNorm))) << position;
    Array<float> out{std::vector<float>(100), View::contiguous({1, 100})};
    const View view = View::contiguous({200, 100});
    fold<op::Max>({values.data(), &view, f32}, {0}, out.operand());
    for (size_t j = 0; j < 100; ++j) EXPECT_EQ(std::isnan(out.memory[j]), j == position % 100);
  }
  EXPECT_EQ(reduced(std::vector<float>{-kInf, -kInf}, fold<op::Max>), -kInf);
  EXPECT_EQ(reduced(std::vector<float>(40, -3.0f), fold<op::Max>), -3);  // padding lanes do not count
}

TEST(ReduceHard, LogSumExp) {
  EXPECT_EQ(reduced(std::vector<float>{-kInf, -kInf}, fold<op::Logsumexp>), -kInf);
  EXPECT_EQ(reduced(std::vector<float>{kInf, 1.0f}, fold<op::Logsumexp>), kInf);
  EXPECT_EQ(reduced(std::vector<float>{1e4f, -1e4f}, fold<op::Logsumexp>), 1e4f);
  EXPECT_NEAR(reduced(std::vector<float>(30000, 1e4f), fold<op::Logsumexp>), 1e4 + std::log(30000.0), 1e-3);
  std::vector<float> mixed(30000, -kInf);  // whole blocks of -inf
  mixed[12345] = 3.0f;
  EXPECT_EQ(reduced(mixed, fold<op::Logsumexp>), 3.0);
  EXPECT_NEAR(reduced(std::vector<double>{-1000.0, -1000.0}, fold<op::Logsumexp>), -1000 + std::log(2.0), 1e-12);
}

TEST(ReduceHard, NormNeitherOverflowsNorVanishes) {
  EXPECT_NEAR(reduced(std::vector<float>(100, 1e20f), kNorm) / 1e21, 1, 1e-6);
  EXPECT_NEAR(reduced(std::vector<float>(100, 1e-30f), kNorm) / 1e-29, 1, 1e-6);
  EXPECT_NEAR(reduced(std::vector<double>(100, 1e200), kNorm) / 1e201, 1, 1e-12);
  EXPECT_NEAR(reduced(std::vector<double>(100, 1e-200), kNorm) / 1e-199, 1, 1e-12);
  EXPECT_NEAR(reduced(std::vector<double>(20000, 4e-310), kNorm) / (4e-310 * std::sqrt(20000.0)), 1, 1e-4);
  EXPECT_EQ(reduced(std::vector<double>{1.0, static_cast<double>(kInf)}, kNorm), kInf);
  EXPECT_EQ(reduced(std::vector<double>{0.0, 0.0}, kNorm), 0);
  std::vector<double> rows(200, 1.0);  // one of two rows is out of the ordinary
  std::fill_n(rows.begin(), 100, 1e200);
  Array<double> norms{std::vector<double>(2), View::contiguous({2, 1})};
  const View view = View::contiguous({2, 100});
  kNorm(Operand{rows.data(), &view, f64}, IntList{1}, norms.operand());
  EXPECT_NEAR(norms.memory[0] / 1e201, 1, 1e-12);
  EXPECT_EQ(norms.memory[1], 10);
  const internal::DenormalsFlushed flushed;  // the reciprocal of so large a number is one
  EXPECT_NEAR(reduced(std::vector<double>{1e308, 1e300}, kNorm) / 1e308, 1, 1e-12);
}

// Along each axis, in rows of each length that has a way of its own.
TEST(ReduceHard, NormsOfOrdinaryAndExtremeRowsSideBySide) {
  const std::vector<double> scales = {1, 0, 1e200, 1e-200, -3, 1e-320, 1e150, 0};
  const auto count = static_cast<int64_t>(scales.size());
  for (const int64_t length : {1, 3, 30, 500, 20000})
    for (const bool is_transposed : {false, true}) {
      const View view = View::contiguous(is_transposed ? Shape{length, count} : Shape{count, length});
      std::vector<double> values(static_cast<size_t>(count * length));
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < length; ++j)
          values[static_cast<size_t>(is_transposed ? j * count + i : i * length + j)] = scales[static_cast<size_t>(i)];
      Array<double> norms{std::vector<double>(scales.size(), 7.0),
                          View::contiguous(is_transposed ? Shape{1, count} : Shape{count, 1})};
      kNorm(Operand{values.data(), &view, f64}, IntList{is_transposed ? 0 : 1}, norms.operand());
      for (size_t i = 0; i < scales.size(); ++i) {
        const double expected = std::abs(scales[i]) * std::sqrt(static_cast<double>(length));
        EXPECT_NEAR(norms.memory[i], expected, (scales[i] < 1e-300 ? 1e-3 : 1e-12) * expected)
            << "row " << i << " of " << length;
      }
    }
}

TEST(ReduceHard, NaNIsNotZero) {
  Array<float> x{{0.0f, kNaN}, View::contiguous({2})};
  Array<uint8_t> out{{7}, View::contiguous({1})};
  fold<op::Any>(x.operand(), {0}, out.operand());
  EXPECT_EQ(out.memory[0], 1);
  fold<op::All>(x.operand(), {0}, out.operand());
  EXPECT_EQ(out.memory[0], 0);
}

TEST(ReduceHard, SameBitsForAnyNumberOfThreads) {
  Random random(11);
  const std::vector<std::pair<Shape, IntList>> shapes = {
      {{300000}, {0}}, {{70000, 5}, {0}}, {{700, 500}, {0}}, {{700, 500}, {1}}, {{8, 32, 40, 40}, {0, 2, 3}}};
  for (const auto& [shape, reduced] : shapes)
    for (Layout layout : {Layout::row_major, Layout::channels_last}) {
      const IntList& axes = reduced;  // clang 14 captures no structured bindings
      AnyArray x = random_values(shape, f32, layout, random);
      AnyArray out(kept_shape(shape, axes), f32, Layout::row_major, random);
      for (auto f : {&fold<op::Sum>,
                     +[](const Operand&in, const IntList&a, const Operand&o) {
                       op::Var{a, 1, true}.cpu(in, o);
                     },
                     &fold<op::Logsumexp>})
        expect_same_bits_for_threads([&] {
          f(x.operand(), axes, out.operand());
          return out.memory;
        });
    }
}

}  // namespace
}  // namespace weft::testing
