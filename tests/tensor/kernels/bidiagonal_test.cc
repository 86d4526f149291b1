// Singular values and vectors of upper bidiagonal matrices: the vectors are orthogonal and make up the matrix, and the
// values alone are the same.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tensor/kernels/cpu/linalg/bidiagonal_svd.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft::kernels::cpu::linalg {
namespace {

using Values = std::vector<double>;

/// The inner product of rows i and j of square `a`.
double rows_product(const Values& a, size_t n, size_t i, size_t j) {
  double sum = 0;
  for (size_t k = 0; k < n; ++k) sum += a[i * n + k] * a[j * n + k];
  return sum;
}

void check(const char* name, const Values& d, const Values& e) {
  SCOPED_TRACE(name);
  const size_t n = d.size();
  const auto rows = static_cast<int64_t>(n);
  double largest = 0;
  for (const double v : d) largest = std::max(largest, std::abs(v));
  for (size_t i = 0; i + 1 < n; ++i) largest = std::max(largest, std::abs(e[i]));
  const double error = 1e-15 * static_cast<double>(n + 10);
  Values s = d, used = e, left(n * n), right(n * n);
  bidiagonal_vectors(s.data(), used.data(), row_major(left.data(), rows, rows), row_major(right.data(), rows, rows));
  for (size_t i = 0; i < n; ++i) {
    ASSERT_GE(s[i], i == 0 ? 0 : s[i - 1]);
    for (size_t j = 0; j < n; ++j) {
      ASSERT_NEAR(rows_product(left, n, i, j), i == j ? 1 : 0, error) << i << ' ' << j;
      ASSERT_NEAR(rows_product(right, n, i, j), i == j ? 1 : 0, error) << i << ' ' << j;
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += left[k * n + i] * s[k] * right[k * n + j];
      ASSERT_NEAR(sum, j == i ? d[i] : j == i + 1 ? e[i] : 0, error * largest) << i << ' ' << j;
    }
  }
  Values values = d;
  used = e;
  bidiagonal_values(values.data(), used.data(), rows);
  for (size_t i = 0; i < n; ++i) EXPECT_NEAR(values[i], s[i], error * largest) << i;
}

TEST(Bidiagonal, VectorsMakeUpTheMatrix) {
  testing::Random random(1);
  const auto drawn = [&](size_t n, double scale) { return testing::normal_values(random, n, scale); };
  for (const size_t n : {1, 2, 3, 17, 32, 33, 66, 140}) {
    const Values beside = drawn(n, 1);
    check("random", drawn(n, 1), beside);
    check("zeros", Values(n, 0.0), Values(n, 0.0));
    check("zeros on the diagonal", Values(n, 0.0), beside);
    check("diagonal", drawn(n, 1), Values(n, 0.0));
    check("ones", Values(n, 1.0), Values(n, 1.0));
    check("one value", Values(n, 3.0), Values(n, 0.0));
    check("weakly tied", drawn(n, 1), drawn(n, 1e-9));
    check("nearly equal", Values(n, 1.0), drawn(n, 1e-15));
    Values broken = drawn(n, 1), graded(n), graded_beside = beside;
    for (size_t i = 0; i < n; i += 3) broken[i] = 0;
    check("some zeros", broken, beside);
    check("in parts", drawn(n, 1), broken);
    for (size_t i = 0; i < n; ++i) graded[i] = std::pow(10.0, -300.0 * static_cast<double>(i) / static_cast<double>(n));
    for (size_t i = 0; i < n; ++i) graded_beside[i] *= graded[i];
    check("graded", graded, graded_beside);
    std::vector<double> up(graded.rbegin(), graded.rend()), up_beside(graded_beside.rbegin(), graded_beside.rend());
    check("graded upwards", up, up_beside);
    Values one(n, 2e-323), one_beside(n, 5e-324);  // of rank one, but for what rounding leaves
    one[0] = 1;
    check("denormal numbers behind one", one, one_beside);
    Values two(n, 1e-9);
    for (size_t i = 0; i < n / 2; ++i) two[i] = 1;
    check("two values", two, drawn(n, 1e-12));
  }
}

}  // namespace
}  // namespace weft::kernels::cpu::linalg
