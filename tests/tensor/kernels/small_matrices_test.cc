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
#include "tensor/functions/copy.h"
#include "tensor/functions/eig.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/lu.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/qr.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/triangular.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/lu.h"
#include "tensor/runtime/threads.h"

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

TEST(SmallMatrices, AnErrorNamesTheFirst) {
  const auto message = [](const auto& f) {
    try {
      f();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  Tensor a = eye(3).expand({kMany, 3, 3}).clone();
  a[21].fill_(0), a[33].fill_(NAN);
  EXPECT_NE(message([&] { cholesky(a); }).find("matrix 21 of the batch"), std::string::npos);
  EXPECT_NE(message([&] { solve(a, a); }).find("matrix 21 of the batch is singular"), std::string::npos);
  EXPECT_NE(message([&] { eigh(a); }).find("matrix 33 of the batch"), std::string::npos);
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
