// Reduction to tridiagonal form, and eigenvalues of tridiagonal matrices, judged by counting signs in Sturm sequences.
#include "tensor/kernels/cpu/linalg/tridiagonal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tensor/kernels/cpu/linalg/tridiagonal_eigen.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft::kernels::cpu::linalg {
namespace {

using Values = std::vector<double>;

/// How many eigenvalues lie below x (Sylvester's law of inertia).
int64_t below(const Values& d, const Values& e, long double x) {
  int64_t count = 0;
  long double q = 1;
  for (size_t i = 0; i < d.size(); ++i) {
    const long double beside = i == 0 ? 0 : e[i - 1];
    q = d[i] - x - beside * beside / q;
    if (q == 0) q = std::numeric_limits<double>::min();
    count += q < 0;
  }
  return count;
}

/// Value k has at most k eigenvalues below it and at least k + 1 not above it, up to a few roundings of the largest.
void check(const char* name, const Values& d, const Values& e) {
  SCOPED_TRACE(name);
  const auto n = static_cast<int64_t>(d.size());
  Values values = d, used = e;
  used.push_back(7);  // n are promised, n - 1 are read
  tridiagonal_values(values.data(), used.data(), n);
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  const double error = 1e-15 * static_cast<double>(n + 10) * largest;
  for (int64_t k = 0; k < n; ++k) {
    const auto at = static_cast<size_t>(k);
    ASSERT_TRUE(k == 0 || values[at - 1] <= values[at]) << k;
    EXPECT_LE(below(d, e, values[at] - error), k) << values[at];
    EXPECT_GE(below(d, e, values[at] + error + std::numeric_limits<double>::min()), k + 1) << values[at];
  }
}

TEST(Tridiagonal, ValuesAreThoseThatSturmCounts) {
  testing::Random random(1);
  const auto drawn = [&](size_t n, double scale) { return testing::normal_values(random, n, scale); };
  for (const size_t n : {1, 2, 3, 17, 64, 200}) {
    check("random", drawn(n, 1), drawn(n - 1, 1));
    check("pairs of both signs", Values(n, 0.0), drawn(n - 1, 1));
    check("differences", Values(n, 2.0), Values(n - 1, -1.0));
    check("weakly tied", drawn(n, 1), drawn(n - 1, 1e-9));
    check("diagonal", drawn(n, 1), Values(n - 1, 0.0));
    check("zeros", Values(n, 0.0), Values(n - 1, 0.0));
    check("one value", Values(n, 3.0), Values(n - 1, 0.0));
    check("squares vanish", drawn(n, 1), drawn(n - 1, 1e-160));
    Values graded(n), beside = drawn(n - 1, 1);
    for (size_t i = 0; i < n; ++i) graded[i] = std::pow(10.0, -15.0 * static_cast<double>(i) / static_cast<double>(n));
    for (size_t i = 0; i + 1 < n; ++i) beside[i] *= graded[i + 1];
    check("graded", graded, beside);
    check("graded upwards", Values(graded.rbegin(), graded.rend()), Values(beside.rbegin(), beside.rend()));
    Values wilkinson(n);
    for (size_t i = 0; i < n; ++i) wilkinson[i] = std::abs(static_cast<double>(i) - static_cast<double>(n - 1) / 2);
    check("Wilkinson", wilkinson, Values(n - 1, 1.0));
    Values broken = beside;
    for (size_t i = 0; i < broken.size(); i += 5) broken[i] = 0;
    check("in parts", drawn(n, 1), broken);
  }
}

TEST(Tridiagonal, NothingHasNoValues) {
  Values d = {3, 4}, e = {5, 6};
  tridiagonal_values(d.data(), e.data(), 0);
  EXPECT_EQ(d, (Values{3, 4}));
  EXPECT_EQ(e, (Values{5, 6}));
}

/// T = Q^T a Q has a's trace and sum of squares, and Q T = a Q; the columns of a panel lie near or far from each other.
template <class T> void check_reduction(int64_t n) {
  testing::Random random(2);
  const Values drawn = testing::normal_values(random, static_cast<size_t>(n * n), 1);
  std::vector<T> whole(drawn.size()), used, turned(drawn.size());
  const Matrix<T> a = row_major(whole.data(), n, n), q = row_major(turned.data(), n, n);  // rows of q: columns of Q
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      a.at(i, j) = static_cast<T>(drawn[static_cast<size_t>(std::min(i, j) * n + std::max(i, j))]);
  used = whole;
  Values d(static_cast<size_t>(n)), e(static_cast<size_t>(n));
  const Tridiagonal<T> reduced(row_major(used.data(), n, n), d.data(), e.data());
  for (int64_t i = 0; i < n; ++i) q.at(i, i) = 1;
  reduced.transform(q);
  double error = 0;
  for (int64_t k : {int64_t{0}, n / 2, n - 1})
    for (int64_t i = 0; i < n; ++i) {
      double product = 0, wanted = d[static_cast<size_t>(k)] * static_cast<double>(q.at(k, i));
      for (int64_t j = 0; j < n; ++j) product += static_cast<double>(a.at(i, j)) * static_cast<double>(q.at(k, j));
      if (k > 0) wanted += e[static_cast<size_t>(k - 1)] * static_cast<double>(q.at(k - 1, i));
      if (k + 1 < n) wanted += e[static_cast<size_t>(k)] * static_cast<double>(q.at(k + 1, i));
      error = std::max(error, std::abs(product - wanted));
    }
  EXPECT_LT(error, 50 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::sqrt(static_cast<double>(n)))
      << n;
}

TEST(Tridiagonal, ReducesMatricesOfAnySize) {
  for (const int64_t n : {1, 2, 3, 40, 150, 270}) check_reduction<double>(n);
  for (const int64_t n : {40, 150, 530}) check_reduction<float>(n);
}

}  // namespace
}  // namespace weft::kernels::cpu::linalg
