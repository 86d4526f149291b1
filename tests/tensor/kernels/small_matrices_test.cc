// Batches of small matrices, which are factored a matrix to a lane: the same as one by one, whatever their layout and
// number.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/core/random.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/eig.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/lu.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/qr.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/sort.h"
#include "tensor/functions/triangular.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/lu.h"
#include "tensor/runtime/threads.h"
#include "tests/error_of.h"

namespace weft {
namespace {

constexpr int64_t kMany = 37;  // some whole registers and a part of one

double largest_difference(const Tensor& a, const Tensor& b) { return max(abs(a - b)).to(f64).item<double>(); }

/// f of the batch x against f of each matrix, in f32 and f64 and in two layouts; `sizes` are those of a matrix.
template <class F> void expect_each(int64_t rows, int64_t columns, double tolerance, const F& f) {
  manual_seed(rows * 100 + columns);
  const Tensor normal = randn({kMany, rows, columns}, f64);
  for (const DType dtype : {f32, f64}) {
    const Tensor x = normal.to(dtype);
    const Tensor columns_first = transpose(transpose(x, -2, -1).contiguous(), -2, -1);
    for (const Tensor& batch : {x, columns_first}) {
      const Tensor found = f(batch);
      for (int64_t i = 0; i < kMany; ++i)
        EXPECT_LT(largest_difference(found[i], f(x[i])), dtype == f64 ? tolerance * 1e-8 : tolerance)
            << rows << " x " << columns << ", matrix " << i;
    }
  }
}

Tensor definite(const Tensor& a) { return matmul(a, transpose(a, -2, -1)) + eye(a.size(-1), std::nullopt, a.dtype()); }

TEST(SmallMatrices, CholeskyIsThatOfEach) {
  for (const int64_t n : {1, 2, 5, 8, 16}) {
    expect_each(n, n, 1e-4, [](const Tensor& a) { return cholesky(definite(a)); });
    expect_each(n, n, 1e-4, [](const Tensor& a) { return cholesky(definite(a), true); });
  }
}

TEST(SmallMatrices, SystemsAreThoseOfEach) {
  for (const int64_t n : {1, 2, 5, 8, 16}) {
    expect_each(n, n, 2e-3, [n](const Tensor& a) {  // rows are exchanged in both factorizations
      return matmul(a, solve(a, a * 2.0 + eye(n, std::nullopt, a.dtype())));
    });
    expect_each(n, n, 2e-3, [](const Tensor& a) { return det(a) / (abs(det(a)) + 1.0); });
  }
}

TEST(SmallMatrices, SystemsOfOneMatrixShareItsFactors) {
  manual_seed(1);
  const Tensor a = randn({5, 5}, f64), b = randn({kMany, 5, 3}, f64);
  EXPECT_LT(largest_difference(matmul(a, solve(a, b)), b), 1e-10);
  const Tensor wide = randn({kMany, 5, 40}, f64), many = randn({kMany, 5, 5}, f64);
  EXPECT_LT(largest_difference(matmul(many, solve(many, wide)), wide), 1e-9);
}

TEST(SmallMatrices, TransposedSystemsAreThoseOfEach) {
  for (const int64_t n : {1, 2, 3, 5, 16})
    for (const int64_t columns : {1, 2, 7}) {
      manual_seed(n);
      const Tensor right = randn({n, columns}, f64),
                   squares = randn({kMany, n, n}, f64);  // one for all, by strides of 0
      const auto [lu, pivots] = dispatch::apply(op::LuFactor{}, squares);
      const Tensor shared = right.expand({kMany, n, columns}), own = randn({kMany, n, columns}, f64);
      for (const Tensor& b : {shared, own})
        for (const bool transposed : {false, true}) {
          const Tensor x = dispatch::apply(op::LuSolve{transposed}, squares, lu, pivots, b);
          const Tensor again = matmul(transposed ? transpose(squares, -2, -1) : squares, x);
          EXPECT_LT(largest_difference(again, b), 1e-9) << n << ", " << columns << ", transposed " << transposed;
        }
    }
  // The matrices of a group repeat, but are not all one.
  const Tensor few = randn({1, 3, 2, 2}, f64).expand({20, 3, 2, 2});
  EXPECT_LT(largest_difference(matmul(few, inv(few)), eye(2, std::nullopt, f64).expand(few.shape())), 1e-9);
}

TEST(SmallMatrices, ProductsAreThoseOfEach) {
  for (const int64_t n : {1, 2, 3, 4}) {
    expect_each(n, n, 1e-5, [](const Tensor& a) { return matmul(a, a); });
    expect_each(n, n, 1e-5, [](const Tensor& a) { return matmul(transpose(a, -2, -1), a * 2.0); });
    const Tensor a = randn({kMany, n, n}, f64), one = randn({1, n, n}, f64).expand({kMany, n, n});
    const Tensor found = matmul(one, a);
    for (int64_t i = 0; i < kMany; ++i) EXPECT_LT(largest_difference(found[i], matmul(one[0], a[i])), 1e-14);
    Tensor none = a.clone();
    none[5].fill_(NAN);
    EXPECT_TRUE(all(isnan(matmul(none, a)[5])).item<bool>());
    EXPECT_FALSE(any(isnan(matmul(none, a)[6])).item<bool>());
  }
}

/// x of triangles with NaN on the side that is not read, and on the diagonal where it is taken to be ones.
void expect_solved(const Shape& shape, int64_t columns, bool upper, bool unit, DType dtype) {
  const int64_t n = shape[shape.size() - 1];
  const Tensor ones_there = eye(n, std::nullopt, dtype), normal = randn(shape, dtype) * (1 / std::sqrt(n));
  const Tensor strict = upper ? triu(normal, 1) : tril(normal, -1), clean = strict + ones_there * (unit ? 1 : 2);
  const Tensor read = upper ? triu(ones(shape, boolean), unit ? 1 : 0) : tril(ones(shape, boolean), unit ? -1 : 0);
  const Tensor a = where(read, clean, full_like(clean, std::nan("")));
  Shape of_b = shape;
  of_b[of_b.size() - 1] = columns;
  const Tensor b = randn(of_b, dtype);
  for (const bool by_columns : {false, true}) {
    const Tensor lying = by_columns ? transpose(transpose(a, -2, -1).contiguous(), -2, -1) : a;
    for (const Tensor& given : {lying, cat({lying, lying}, -1).narrow(-1, 0, n)}) {
      const Tensor x = solve_triangular(given, b, {.upper = upper, .unitriangular = unit});
      EXPECT_LT(largest_difference(matmul(clean, x), b), dtype == f64 ? 1e-12 : 1e-4)
          << shape << " and " << columns << " columns, upper " << upper << ", ones " << unit << ", " << by_columns;
    }
  }
}

TEST(SmallMatrices, TrianglesAreSolved) {
  manual_seed(3);
  for (const DType dtype : {f32, f64})
    for (const int64_t n : {1, 2, 7, 16, 17, 31, 32, 33, 64, 65, 130})
      for (const int64_t columns : {1, 2, 3, 9, 17})
        for (const bool upper : {false, true})
          for (const Shape& shape : {Shape{n, n}, Shape{n > 40 ? 9 : kMany, n, n}})
            expect_solved(shape, columns, upper, (n + columns) % 4 == 0, dtype);
  expect_solved({256, 256}, 1, true, false, f32);
  expect_solved({257, 257}, 1, false, false, f64);
  Tensor singular = eye(20).expand({kMany, 20, 20}).contiguous();
  singular.select(0, 17).select(0, 4).select(0, 4).fill_(0);
  EXPECT_EQ(
      error_of([&] {
        solve_triangular(singular, ones({kMany, 20, 1}));
      }),
      "solve_triangular([37, 20, 20] f32, [37, 20, 1] f32): matrix 17 of the batch is singular: there is a zero on "
      "its diagonal");
}

TEST(SmallMatrices, RectanglesAreFactored) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{7, 3}, {3, 7}, {16, 1}}) {
    manual_seed(rows);
    const Tensor a = randn({kMany, rows, columns}, f64);
    const auto [lu, pivots] = dispatch::apply(op::LuFactor{}, a);
    for (int64_t i = 0; i < kMany; ++i) {
      const auto [one, one_pivots] = dispatch::apply(op::LuFactor{}, a[i]);
      EXPECT_LT(largest_difference(lu[i], one), 1e-12);
      EXPECT_EQ(pivots[i].contiguous().to_vector<int32_t>(), one_pivots.to_vector<int32_t>());
    }
  }
}

TEST(SmallMatrices, QrIsThatOfEach) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {2, 2}, {7, 3}, {8, 8}, {16, 16}}) {
    expect_each(m, n, 1e-3, [](const Tensor& a) { return qr(a).q; });
    expect_each(m, n, 1e-3, [](const Tensor& a) { return qr(a).r; });
    expect_each(m, n, 1e-3, [](const Tensor& a) {
      const auto [q, r] = qr(a, QrMode::complete);
      return matmul(q, r);
    });
    expect_each(m, n, 1e-3, [](const Tensor& a) {
      const Tensor q = qr(a, QrMode::complete).q;
      return matmul(transpose(q, -2, -1), q);
    });
  }
  const Tensor q = qr(zeros({kMany, 4, 3}, f64)).q;  // nothing to reflect
  EXPECT_EQ(largest_difference(q[3], eye(4, 3, f64)), 0);
}

TEST(SmallMatrices, ColumnsOfQAreOrthogonalHoweverSmallTheNumbers) {
  for (const auto& [dtype, size] : {std::pair{f32, 1e-42}, {f32, 1e-33}, {f64, 1e-319}, {f64, 1e-294}}) {
    manual_seed(3);
    const Tensor a = (randn({kMany, 5, 3}, f64) * size).to(dtype);
    const auto [q, r] = qr(a);
    const double precision = dtype == f32 ? 4e-6 : 4e-15;
    EXPECT_LT(largest_difference(matmul(transpose(q, -2, -1), q), eye(3, std::nullopt, dtype)), precision) << size;
    EXPECT_LT(largest_difference(matmul(q, r), a), precision * size + (dtype == f32 ? 6e-45 : 2e-323)) << size;
  }
}

TEST(SmallMatrices, ColumnsOfQAreOrthogonalWhereColumnsOfAAreNot) {
  // What is left of each column is a rounding error of what was left of the one before: denormal after a few.
  for (const DType dtype : {f32, f64})
    for (const int64_t n : {8, 16}) {
      const Tensor q = qr(ones({kMany, n, n}, dtype)).q;
      EXPECT_LT(largest_difference(matmul(transpose(q, -2, -1), q), eye(n, std::nullopt, dtype)),
                dtype == f32 ? 4e-6 : 4e-15)
          << n;
    }
}

TEST(SmallMatrices, EigenpairsAreThoseOfEach) {
  for (const int64_t n : {1, 2, 5, 16}) {
    expect_each(n, n, 1e-4, [](const Tensor& a) { return eigvalsh(a + transpose(a, -2, -1)); });
    for (const Triangle triangle : {Triangle::lower, Triangle::upper})
      expect_each(n, n, 2e-4, [triangle](const Tensor& a) {
        const auto [values, vectors] = eigh(a, triangle);
        return matmul(vectors * unsqueeze(values, -2), transpose(vectors, -2, -1));
      });
  }
}

TEST(SmallMatrices, EigenpairsOfAnySize) {
  for (const double size : {1e-30, 1e-20, 1e20, 1e30}) {
    manual_seed(2);
    const Tensor a = randn({kMany, 6, 6}), symmetric = (a + transpose(a, -2, -1)) * size;
    const auto [values, vectors] = eigh(symmetric);
    const Tensor again = matmul(vectors * unsqueeze(values / size, -2), transpose(vectors, -2, -1));
    EXPECT_LT(largest_difference(again, symmetric / size), 1e-4) << size;
  }
  const auto [values, vectors] = eigh(zeros({kMany, 3, 3}));
  EXPECT_EQ(largest_difference(vectors[5], eye(3)), 0);
  EXPECT_EQ(max(abs(values)).item<float>(), 0);
}

TEST(SymmetricMatrices, HaveRealEigenvaluesOfEigToo) {
  for (const DType dtype : {f32, f64})
    for (const int64_t n : {64, 130}) {  // n - 1 eigenvalues are 0, in pairs that rounding errors make complex
      const auto [values, vectors] = eig(ones({n, n}, dtype));
      const Tensor again = matmul(vectors * unsqueeze(values, -2), transpose(vectors, -2, -1));
      EXPECT_LT(largest_difference(again, ones({n, n}, dtype)), dtype == f32 ? 1e-4 : 1e-12) << n;
    }
}

TEST(TriangularMatrices, HaveTheirDiagonalAsEigenvalues) {
  for (const DType dtype : {f32, f64})
    for (const int64_t n : {40, 128}) {  // their other elements make eigenvalues sensitive to rounding errors
      const Tensor diagonal = arange(1, n + 1).to(dtype), a = tril(ones({n, n}, dtype)) * unsqueeze(diagonal, -1);
      const auto [values, vectors] = eig(a);
      EXPECT_EQ(largest_difference(sort(values).values, diagonal), 0) << n;
      EXPECT_LT(largest_difference(matmul(a, vectors), vectors * unsqueeze(values, -2)), dtype == f32 ? 1e-2 : 1e-11);
    }
}

TEST(SmallMatrices, AnErrorNamesTheFirst) {
  Tensor a = eye(3).expand({kMany, 3, 3}).clone();
  a[21].fill_(0), a[33].fill_(NAN);
  EXPECT_NE(error_of([&] { cholesky(a); }).find("matrix 21 of the batch"), std::string::npos);
  EXPECT_NE(error_of([&] { solve(a, a); }).find("matrix 21 of the batch is singular"), std::string::npos);
  EXPECT_NE(error_of([&] { eigh(a); }).find("matrix 33 of the batch"), std::string::npos);
}

TEST(SmallMatrices, BitsDoNotDependOnTheThreads) {
  manual_seed(4);
  const Tensor a = randn({2000, 6, 6});
  const auto all = [&] {
    const auto [values, vectors] = eigh(a);
    return std::vector<Tensor>{cholesky(definite(a)), solve(a, a), qr(a).q, values, vectors};
  };
  set_num_threads(1);
  const std::vector<Tensor> expected = all();
  set_num_threads(3);
  const std::vector<Tensor> found = all();
  set_num_threads(2);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i].contiguous().to_vector<float>(), expected[i].contiguous().to_vector<float>()) << i;
}

}  // namespace
}  // namespace weft
