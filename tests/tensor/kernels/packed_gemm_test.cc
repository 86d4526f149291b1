// weft's own product called directly, whatever sizes it is chosen for: small integers, so that every sum is exact.
#include "tensor/kernels/cpu/gemm/packed_gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/runtime/threads.h"
#include "tests/tensor/kernels/padded_matrix.h"

namespace weft {
namespace {

using kernels::cpu::Matrix;
using kernels::cpu::packed_gemm;
using kernels::cpu::packed_gemm_block;
using testing::Add;
using testing::Padded;
using testing::Random;
using testing::values_of;

template <class T>
void check(int64_t m, int64_t k, int64_t n, bool a_columns, bool b_columns, Add add, Random& random) {
  const Padded<T> a(m, k, a_columns, random), b(k, n, b_columns, random), bias(1, n, false, random);
  Padded<T> c(m, n, false, random);
  std::vector<T> expected = c.memory;
  constexpr int64_t kGap = Padded<T>::kGap;
  const Matrix<T> right{expected.data() + kGap, m, n, n + kGap, 1};
  const testing::reference::Array products = product(values_of(a.matrix), values_of(b.matrix));
  size_t place = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const double start = add == Add::before ? static_cast<double>(right.at(i, j))
                           : add == Add::bias ? static_cast<double>(bias.matrix.at(0, j))
                                              : 0.0;
      right.at(i, j) = static_cast<T>(start + products.values[place++]);
    }
  packed_gemm<T>(a.matrix, b.matrix, c.matrix, add == Add::before, add == Add::bias ? bias.matrix.data : nullptr);
  ASSERT_EQ(c.memory, expected) << m << " x " << k << " x " << n << (a_columns ? " T" : " N") << (b_columns ? "T" : "N")
                                << " add " << static_cast<int>(add);  // the gaps included
}

template <class T> void check_all(int64_t m, int64_t k, int64_t n, Random& random) {
  testing::for_all_products(
      [&](bool a_columns, bool b_columns, Add add) { check<T>(m, k, n, a_columns, b_columns, add, random); });
}

template <class T> void check_tiles() {
  Random random(1);
  testing::for_all_tiles(kernels::cpu::simd::kLanes<T>,
                         [&](int64_t m, int64_t k, int64_t n) { check_all<T>(m, k, n, random); });
}
TEST(PackedGemm, TilesOfEverySize) {
  check_tiles<float>();
  check_tiles<double>();
}

TEST(PackedGemm, RandomSizes) {
  Random random(2);
  for (int i = 0; i < testing::property_cases(60); ++i) {
    const int64_t m = testing::pick(random, 1, 150), k = testing::pick(random, 1, 150),
                  n = testing::pick(random, 1, 150);
    check_all<float>(m, k, n, random);
    check_all<double>(m, k, n, random);
  }
}

// Sums in several passes, columns in several groups, rows that are packed in several batches and those that lie too far
// apart to be read in place.
TEST(PackedGemm, PassesGroupsAndBatches) {
  Random random(3);
  check_all<float>(37, 1500, 40, random);
  check_all<float>(40, 600, 700, random);
  check_all<double>(130, 530, 300, random);
  check_all<float>(500, 300, 70, random);
  check_all<float>(200, 260, 50, random);   // packed rows under a single panel
  check_all<float>(100, 700, 520, random);  // packed rows that meet several groups
}

TEST(PackedGemm, SameBitsAtAnyThreadCount) {
  const int before = num_threads();
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{150, 700, 130}, {64, 784, 256}, {300, 64, 300}, {1000, 90, 20}})
    for (const bool b_columns : {false, true}) {
      std::vector<float> first;
      for (const int threads : {1, 2, 3, 5}) {
        set_num_threads(threads);
        Random random(4);
        Padded<float> a(m, k, false, random), b(k, n, b_columns, random), c(m, n, false, random);
        for (float& v : a.memory) v = 1.0f / (v + 0.3f);  // real numbers, so that the order of summation shows
        packed_gemm<float>(a.matrix, b.matrix, c.matrix, false);
        if (threads == 1) first = c.memory;
        EXPECT_EQ(c.memory, first) << threads << " threads";
      }
    }
  set_num_threads(before);
}

TEST(PackedGemm, BlocksHaveTheBitsOfTheWhole) {
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{150, 700, 130}, {64, 300, 256}, {300, 1100, 200}})
    for (const bool a_columns : {false, true})
      for (const bool b_columns : {false, true}) {
        Random random(6);
        Padded<float> a(m, k, a_columns, random), b(k, n, b_columns, random), c(m, n, false, random);
        for (float& v : a.memory) v = 1.0f / (v + 0.3f);  // real numbers, so that the order of summation shows
        Padded<float> blocks = c;
        blocks.matrix.data = blocks.memory.data() + Padded<float>::kGap;
        packed_gemm<float>(a.matrix, b.matrix, c.matrix, false);
        const int64_t i = m / 3, j = 64;
        for (const auto& [top, bottom] : {std::pair<int64_t, int64_t>{0, i}, {i, m}})
          for (const auto& [left, right] : {std::pair<int64_t, int64_t>{0, j}, {j, n}})
            packed_gemm_block<float>(a.matrix, b.matrix, top, left,
                                     blocks.matrix.block(top, left, bottom - top, right - left));
        EXPECT_EQ(blocks.memory, c.memory) << m << " x " << k << " x " << n << " " << a_columns << b_columns;
      }
}

// Lanes beyond the last column hold zeros; an infinity or a NaN beside them must not spoil their neighbors.
TEST(PackedGemm, NanAndInfinityStayInTheirRowsAndColumns) {
  Random random(5);
  for (const bool columns : {false, true}) {
    Padded<float> a(30, 20, columns, random), b(20, 37, columns, random), c(30, 37, false, random);
    a.matrix.at(7, 3) = std::numeric_limits<float>::quiet_NaN();
    b.matrix.at(4, 36) = std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < 30; ++i) a.matrix.at(i, 4) = 1;
    packed_gemm<float>(a.matrix, b.matrix, c.matrix, false);
    for (int64_t i = 0; i < 30; ++i)
      for (int64_t j = 0; j < 37; ++j) {
        const float v = c.matrix.at(i, j);
        EXPECT_EQ(std::isnan(v), i == 7) << i << ", " << j;
        if (i == 7) continue;
        EXPECT_EQ(std::isinf(v), j == 36) << i << ", " << j;
      }
  }
}

}  // namespace
}  // namespace weft
