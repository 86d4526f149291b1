// LU of matrices that are factored panel by panel, by halves and beside a square: P L U is the matrix, no multiplier is
// larger than 1, and the bits do not depend on the number of threads; nor do those of Cholesky and triangular systems.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tensor/kernels/cpu/linalg/blocked_lu.h"
#include "tensor/runtime/threads.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft::kernels::cpu::linalg {
namespace {

template <class T> struct Factors {
  std::vector<T> lu;
  std::vector<int32_t> pivots;
  bool operator==(const Factors&) const = default;
};

template <class T> Factors<T> factored(const std::vector<T>& a, int64_t rows, int64_t columns, int threads) {
  Factors<T> out{a, std::vector<int32_t>(static_cast<size_t>(std::min(rows, columns)))};
  set_num_threads(threads);
  lu_in_place<T>(row_major(out.lu.data(), rows, columns), out.pivots.data());
  set_num_threads(2);
  return out;
}

/// P L U.
template <class T> std::vector<double> product(const Factors<T>& f, int64_t rows, int64_t columns) {
  const std::vector<double> lu(f.lu.begin(), f.lu.end());
  std::vector<double> out(lu.size());
  const auto n = static_cast<int64_t>(f.pivots.size());
  const auto row = [&](auto& x, int64_t i) { return x.data() + i * columns; };
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k <= std::min(i, n - 1); ++k) {
      const double factor = k == i ? 1 : row(lu, i)[k];
      EXPECT_LE(std::abs(factor), 1);
      for (int64_t j = k; j < columns; ++j) row(out, i)[j] += factor * row(lu, k)[j];
    }
  for (int64_t i = n; i-- > 0;)
    if (const int64_t k = f.pivots[static_cast<size_t>(i)] - 1; k != i)
      std::swap_ranges(row(out, i), row(out, i) + columns, row(out, k));
  return out;
}

template <class T> void check(const std::vector<double>& values, int64_t rows, int64_t columns) {
  SCOPED_TRACE(text(rows, " x ", columns, ", ", dtype_of<T>));
  const std::vector<T> a(values.begin(), values.end());
  const Factors<T> found = factored(a, rows, columns, 1);
  for (const int threads : {2, 4}) EXPECT_TRUE(factored(a, rows, columns, threads) == found) << threads;
  const std::vector<double> made = product(found, rows, columns);
  double error = 0;
  for (size_t i = 0; i < a.size(); ++i) error = std::max(error, std::abs(made[i] - static_cast<double>(a[i])));
  EXPECT_LT(error, static_cast<double>(std::numeric_limits<T>::epsilon()) * static_cast<double>(rows + 10));
}

TEST(Lu, FactorsMakeUpTheMatrix) {
  testing::Random random(1);
  const std::pair<int64_t, int64_t> sizes[] = {{1, 1},     {9, 5},     {5, 400},   {64, 64},   {200, 200}, {201, 201},
                                               {320, 320}, {257, 257}, {400, 250}, {250, 400}, {512, 512}, {530, 530}};
  for (const auto& [rows, columns] : sizes) {
    std::vector<double> values = testing::normal_values(random, static_cast<size_t>(rows * columns));
    check<float>(values, rows, columns);
    check<double>(values, rows, columns);
    // Of low rank: columns repeat, so that pivots are what rounding leaves, and some are 0.
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 3; j < columns; ++j)
        values[static_cast<size_t>(i * columns + j)] = values[static_cast<size_t>(i * columns + j % 3)];
    check<float>(values, rows, columns);
    check<double>(values, rows, columns);
  }
}

template <class T, class F> void expect_same_bits(const std::vector<T>& a, const F& in_place) {
  const auto with = [&](int threads) {
    std::vector<T> out = a;
    set_num_threads(threads);
    in_place(out.data());
    set_num_threads(2);
    return out;
  };
  const std::vector<T> one = with(1);
  EXPECT_NE(one, a);
  for (const int threads : {2, 4}) EXPECT_EQ(with(threads), one) << threads;
}

template <class T> void check_triangles() {
  testing::Random random(2);
  for (const int64_t n : {40, 257, 450}) {
    const std::vector<double> values = testing::normal_values(random, static_cast<size_t>(n * n));
    std::vector<T> a(values.begin(), values.end());
    for (int64_t i = 0; i < n; ++i) a[static_cast<size_t>(i * n + i)] = static_cast<T>(2 * n);
    SCOPED_TRACE(text(n, ", ", dtype_of<T>));
    expect_same_bits(a, [&](T* x) { EXPECT_EQ(cholesky_in_place<T>(row_major(x, n, n)), 0); });
    const Matrix<const T> triangle = row_major<const T>(a.data(), n, n);
    for (const int64_t columns : {int64_t{1}, int64_t{5}, int64_t{33}, n})
      for (const bool upper : {false, true})
        for (const Matrix<const T>& tri : {triangle, triangle.transposed()})
          expect_same_bits(std::vector<T>(values.begin(), values.begin() + n * columns),
                           [&](T* x) { solve_triangle<T>(tri, upper, false, row_major(x, n, columns)); });
  }
}

TEST(Triangles, BitsDoNotDependOnThreads) {
  check_triangles<float>();
  check_triangles<double>();
}

}  // namespace
}  // namespace weft::kernels::cpu::linalg
