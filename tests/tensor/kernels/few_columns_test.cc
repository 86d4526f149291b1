// Products with few columns called directly, whatever sizes they are chosen for: small integers, so that every sum is
// exact.
#include "tensor/kernels/cpu/gemm/few_columns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/runtime/threads.h"
#include "tests/tensor/kernels/padded_matrix.h"

namespace weft {
namespace {

using kernels::cpu::few_columns_product;
using kernels::cpu::kMostFewColumns;
using kernels::cpu::Matrix;
using testing::Padded;
using testing::Random;
using testing::values_of;

/// c = a b (+ c), c row by row or column by column as a small batch's results are; what lies in its gaps stays.
template <class T, class Out> void check(int64_t m, int64_t k, int64_t n, Random& random) {
  const Padded<T> a(m, k, false, random), b(k, n, true, random);
  const testing::reference::Array products = product(values_of(a.matrix), values_of(b.matrix));
  for (const bool c_columns : {false, true})
    for (const bool accumulate : {false, true}) {
      Padded<Out> c(m, n, c_columns, random);
      std::vector<Out> expected = c.memory;
      const Matrix<Out> right{expected.data() + Padded<Out>::kGap, m, n, c.matrix.row_stride, c.matrix.column_stride};
      size_t place = 0;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          const double before = accumulate ? static_cast<double>(static_cast<float>(right.at(i, j))) : 0.0;
          right.at(i, j) = static_cast<Out>(static_cast<float>(before + products.values[place++]));
        }
      few_columns_product<T, Out>(a.matrix, b.matrix, c.matrix, accumulate);
      ASSERT_EQ(c.memory, expected) << m << " x " << k << " x " << n << " columns " << c_columns << " adds "
                                    << accumulate;
    }
}

/// Every width of a panel and several panels; rows around tiles and blocks; sums around a register and two of them.
template <class T, class Out> void check_sizes() {
  Random random(1);
  constexpr int64_t kLanes = kernels::cpu::simd::kLanes<kernels::cpu::Compute<T>>;
  for (int64_t n = 1; n <= kMostFewColumns + 1; ++n)
    for (const int64_t m : {1, 2, 5, 8, 23, 24, 25, 50})
      for (const int64_t k : {int64_t{1}, kLanes - 1, kLanes, 2 * kLanes, 3 * kLanes + 2})
        check<T, Out>(m, k, n, random);
}
TEST(FewColumns, SizesOfFloat) { check_sizes<float, float>(); }
TEST(FewColumns, SizesOfDouble) { check_sizes<double, double>(); }
TEST(FewColumns, SizesOfHalves) {
  check_sizes<BFloat16, BFloat16>();
  check_sizes<Float16, Float16>();
  check_sizes<BFloat16, float>();
  check_sizes<Float16, float>();
}
/// As threads share the rows: in parts of any size, which have tiles of other heights.
template <class T> void check_parts() {
  Random random(3);
  for (const int64_t n : {1, 2, 3, 4, 8})
    for (const int64_t k : {99, 100, 1000}) {
      std::vector<T> a(static_cast<size_t>(30 * k)), b(static_cast<size_t>(k * n)), whole(static_cast<size_t>(30 * n));
      // Not whole numbers as elsewhere: sums must be rounded.
      for (T& x : a) x = static_cast<T>(testing::pick(random, -999, 999)) / T(777);
      for (T& x : b) x = static_cast<T>(testing::pick(random, -999, 999)) / T(777);
      std::vector<T> parts = whole;
      const Matrix<const T> left{a.data(), 30, k, k, 1}, right{b.data(), k, n, 1, k};
      const Matrix<T> out{parts.data(), 30, n, n, 1};
      few_columns_product<T, T>(left, right, {whole.data(), 30, n, n, 1}, false);
      for (const int64_t rows : {1, 2, 3, 5}) {
        for (int64_t i = 0; i < 30; i += rows)
          few_columns_product<T, T>(left.block(i, 0, rows, k), right, out.block(i, 0, rows, n), false);
        ASSERT_EQ(parts, whole) << rows << " rows of " << k << " x " << n;
      }
    }
}
TEST(FewColumns, BitsDoNotDependOnTheParts) {
  check_parts<float>();
  check_parts<double>();
}
TEST(FewColumns, LongSumsInPasses) {
  Random random(2);
  for (const int64_t k : {767, 768, 769, 1600, 5000})
    for (const int64_t n : {1, 2, 4, 5, 8, 9, 17}) {
      check<float, float>(75, k, n, random);
      check<double, double>(30, k, n, random);
    }
}
// Rows without gaps, whose next ones are prefetched, and on threads.
TEST(FewColumns, DenseRowsHaveTheSameBitsAtAnyThreadCount) {
  const int before = num_threads();
  const int64_t m = 1201, k = 1100;
  for (const int64_t n : {1, 2, 3, 6, 8, 11}) {
    Random random(3);
    std::vector<float> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(n * k));
    for (auto* x : {&a, &b})
      for (float& v : *x) v = 1.0f / (static_cast<float>(testing::pick(random, -4, 4)) + 0.3f);
    const Matrix<const float> left{a.data(), m, k, k, 1}, right{b.data(), k, n, 1, k};
    std::vector<float> first, got(static_cast<size_t>(m * n));
    for (const int threads : {1, 2, 3, 5}) {
      set_num_threads(threads);
      few_columns_product<float, float>(left, right, {got.data(), m, n, 1, m}, false);
      if (threads == 1) first = got;
      EXPECT_EQ(got, first) << threads << " threads";
    }
    for (int64_t i = 0; i < m; i += 100)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) sum += static_cast<double>(left.at(i, l)) * static_cast<double>(right.at(l, j));
        EXPECT_NEAR(first[static_cast<size_t>(j * m + i)], sum, 1e-2);
      }
  }
  set_num_threads(before);
}
/// gemm() chooses this kernel at sizes of a; one or two columns have one sum, whichever kernel computes it.
TEST(FewColumns, OneAndTwoColumnsHaveTheBitsOfDotProducts) {
  Random random(4);
  const int64_t m = 27, k = 555;
  Padded<float> a(m, k, false, random), b(k, 2, true, random);
  for (auto* x : {&a.memory, &b.memory})
    for (float& v : *x) v = 1.0f / (v + 0.3f);
  std::vector<float> one(27), few(27), two(54);
  few_columns_product<float, float>(a.matrix, b.matrix.block(0, 0, k, 1), {few.data(), m, 1, 1, m}, false);
  few_columns_product<float, float>(a.matrix, b.matrix, {two.data(), m, 2, 1, m}, false);
  kernels::cpu::gemm<float>(a.matrix, b.matrix.block(0, 0, k, 1), {one.data(), m, 1, 1, m});
  ASSERT_FALSE(kernels::cpu::prefers_few_columns<float>(m, k, 1));
  EXPECT_EQ(few, one);
  EXPECT_EQ(std::vector<float>(two.begin(), two.begin() + m), one);
}
TEST(FewColumns, NanAndInfinityStayInTheirRowsAndColumns) {
  Random random(5);
  for (const int64_t n : {1, 2, 5, 13}) {
    Padded<float> a(30, 37, false, random), b(37, n, true, random), c(30, n, false, random);
    for (float& v : a.memory) v = v == 0 ? 1.0f : v;
    a.matrix.at(7, 36) = std::numeric_limits<float>::quiet_NaN();
    b.matrix.at(36, n - 1) = std::numeric_limits<float>::infinity();
    few_columns_product<float, float>(a.matrix, b.matrix, c.matrix, false);
    for (int64_t i = 0; i < 30; ++i)
      for (int64_t j = 0; j < n; ++j) {
        EXPECT_EQ(std::isnan(c.matrix.at(i, j)), i == 7) << i << ", " << j;
        if (i == 7) continue;
        EXPECT_EQ(std::isinf(c.matrix.at(i, j)), j == n - 1) << i << ", " << j;
      }
  }
}
/// What lies beyond a row's last element is not multiplied, be it zero or NaN.
TEST(FewColumns, GapsAreNotRead) {
  Random random(6);
  const int64_t m = 40, k = 21, n = 7;
  Padded<float> a(m, k, false, random), b(k, n, true, random), c(m, n, true, random);
  const std::vector<double> products = product(values_of(a.matrix), values_of(b.matrix)).values;
  const auto spoil = [](Padded<float>& x, int64_t lines, int64_t length) {
    for (int64_t i = 0; i < lines; ++i)
      for (int64_t g = 0; g < x.kGap; ++g)
        x.matrix.data[i * (length + x.kGap) + length + g] = std::numeric_limits<float>::quiet_NaN();
  };
  spoil(a, m, k), spoil(b, n, k);
  few_columns_product<float, float>(a.matrix, b.matrix, c.matrix, false);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) EXPECT_EQ(c.matrix.at(i, j), products[static_cast<size_t>(i * n + j)]);
}
/// A small batch times a weight as gemm() takes it, with the sizes at which its way changes.
TEST(FewColumns, SmallBatchesThroughGemm) {
  Random random(7);
  for (const int64_t rows : {1, 2, 3, 4, 5, 8, 9, 16, 20, 21, 24, 25})
    for (const int64_t k : {96, 255, 256, 300}) {
      const Padded<float> x(rows, k, false, random), weight(33, k, false, random);
      Padded<float> y(rows, 33, false, random);
      kernels::cpu::gemm<float>(x.matrix, weight.matrix.transposed(), y.matrix);
      EXPECT_EQ(values_of(y.matrix).values,
                product(values_of(x.matrix), values_of<float>(weight.matrix.transposed())).values);
    }
}

/// A row of a batch has the same bits wherever it is in the batch.
TEST(FewColumns, EqualColumnsHaveEqualBits) {
  constexpr int64_t kColumns = 32;
  int products = 0;
  for (const int64_t k : {300, 1000, 1536}) {
    std::vector<float> memory(static_cast<size_t>(kColumns * k)), weight(static_cast<size_t>(40 * k));
    for (float& v : weight) v = std::sin(static_cast<float>(&v - weight.data()));
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = std::cos(static_cast<float>(i % static_cast<size_t>(k)));
    for (int64_t n = 1; n <= kColumns; ++n) {
      std::vector<float> out(static_cast<size_t>(40 * n));
      const Matrix<const float> a{weight.data(), 40, k, k, 1}, b{memory.data(), k, n, 1, k};
      if (!kernels::cpu::is_few_columns(a, b)) continue;  // oneDNN sums columns at an edge in another order
      ++products;
      kernels::cpu::gemm<float>(a, b, {out.data(), 40, n, n, 1});
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], out[i / static_cast<size_t>(n) * static_cast<size_t>(n)]) << k << ", " << n;
    }
  }
  EXPECT_GT(products, 50);
}

}  // namespace
}  // namespace weft
