// Matrices of few columns and many rows, which are factored with columns as runs of memory: QR, singular values,
// pseudoinverses, and least squares, also of wide ones; of any scale, rank and layout.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/core/random.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/qr.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/svd.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/runtime/threads.h"
#include "tests/error_of.h"

namespace weft {
namespace {

struct Size {
  int64_t m, n;
};
/// Around the largest number of columns (24), registers, and pieces of rows (256).
constexpr Size kSizes[] = {{1, 1},   {2, 1},    {5, 1},   {300, 1},  {3, 2},   {40, 2},   {1000, 2}, {5, 3},
                           {255, 3}, {256, 3},  {257, 3}, {5000, 3}, {401, 4}, {1000, 5}, {600, 8},  {1000, 10},
                           {64, 16}, {700, 17}, {24, 24}, {25, 24},  {37, 24}, {500, 24}, {500, 25}, {3000, 23}};
const double kScales[] = {1, 1e-30, 1e30};

double largest(const Tensor& x) { return max(abs(x)).to(f64).item<double>(); }
Tensor adjoint_of(const Tensor& x) { return transpose(x, -2, -1); }
double epsilon_of(DType dtype) { return dtype == f64 ? 0x1p-52 : 0x1p-23; }

/// f(matrix, name) for matrices of every size, dtype, scale and layout.
template <class F> void for_matrices(const F& f) {
  manual_seed(1);
  for (const auto [m, n] : kSizes)
    for (const DType dtype : {f32, f64})
      for (const double scale : kScales) {
        const Tensor a = (randn({m, n}, f64) * (dtype == f64 ? scale * scale * scale : scale)).to(dtype);
        const std::string name = text(m, " x ", n, " ", dtype, ", scale ", scale);
        f(a, name);
        f(adjoint_of(adjoint_of(a).contiguous()), name + " by columns");
        f(cat({a, a}, -1).narrow(-1, 0, n), name + " with gaps");
      }
}

/// Columns are of length 1, and at right angles.
void expect_orthonormal(const Tensor& q, double tolerance, const std::string& name) {
  const Tensor exact = q.to(f64);
  EXPECT_LT(largest(matmul(adjoint_of(exact), exact) - eye(q.size(-1), std::nullopt, f64)), tolerance) << name;
}

TEST(TallMatrices, QrFactors) {
  for_matrices([](const Tensor& a, const std::string& name) {
    const double tolerance = 40 * epsilon_of(a.dtype());
    const auto [q, r] = qr(a);
    expect_orthonormal(q, tolerance, name);
    const Tensor exact = a.to(f64);
    EXPECT_LE(largest(matmul(q.to(f64), r.to(f64)) - exact), tolerance * largest(exact)) << name;
    EXPECT_EQ(largest(tril(r, -1)), 0) << name;
    EXPECT_EQ(largest(qr(a, QrMode::r).r - r), 0) << name;
  });
}

TEST(TallMatrices, QrOfZerosAndOfWhatIsNotFinite) {
  for (const DType dtype : {f32, f64}) {
    const auto [q, r] = qr(zeros({300, 3}, dtype));
    EXPECT_EQ(largest(q - eye(300, 3, dtype)), 0);
    EXPECT_EQ(largest(r), 0);
    Tensor a = ones({300, 3}, dtype);
    a[200][1].fill_(NAN);
    EXPECT_TRUE(all(isnan(qr(a).q.select(1, 1))).item<bool>());
  }
}

TEST(TallMatrices, SingularValuesAndVectors) {
  for_matrices([](const Tensor& a, const std::string& name) {
    const double tolerance = 20 * epsilon_of(a.dtype());
    const auto [u, s, vh] = svd(a, false);
    expect_orthonormal(u, tolerance, name);
    expect_orthonormal(adjoint_of(vh), tolerance, name);
    const Tensor exact = a.to(f64), made = matmul(u.to(f64) * s.to(f64), vh.to(f64));
    EXPECT_LE(largest(made - exact), tolerance * largest(s)) << name;
    EXPECT_LE(largest(svdvals(a) - s), tolerance * largest(s)) << name;
    EXPECT_LE(largest(svdvals(adjoint_of(a)) - s), tolerance * largest(s)) << name;
    EXPECT_TRUE(all(s.narrow(0, 0, s.size(0) - 1) >= s.narrow(0, 1, s.size(0) - 1)).item<bool>()) << name;
    EXPECT_TRUE(all(s >= 0.0).item<bool>()) << name;
    const auto [full_u, full_s, full_vh] = svd(a.narrow(0, 0, std::min<int64_t>(a.size(0), 64)), true);
    expect_orthonormal(full_u, 2 * tolerance, name);
  });
}

// Columns from 1 to 1e-12: f64 has each value to a few of the largest one's rounding errors; zeros stay zeros.
TEST(TallMatrices, SingularValuesFarApart) {
  manual_seed(2);
  const Tensor sizes = pow(full({5}, 10.0, f64), arange(0, -15, -3, f64));
  const Tensor known = qr(randn({900, 5}, f64)).q * sizes;
  EXPECT_LT(largest(svdvals(known) - sizes), 4e-16);
  EXPECT_LT(largest(svdvals(known.to(f32)).to(f64) - sizes), 6e-8);
  EXPECT_LT(largest((svdvals(known.to(f32)).to(f64) - sizes).narrow(0, 1, 4)), 1e-9);  // in f64
  for (const DType dtype : {f32, f64}) {
    const auto [u, s, vh] = svd(zeros({900, 3}, dtype), false);
    EXPECT_EQ(largest(s), 0);
    expect_orthonormal(u, 1e-6, "zeros");
    expect_orthonormal(vh, 1e-6, "zeros");
  }
}

TEST(TallMatrices, ThoseOfNumbers) {
  for (const DType dtype : {f32, f64})
    for (const double value : {0.0, 3.0, -0.25}) {
      const Tensor a = full({3, 1, 1}, value, dtype);
      const auto [u, s, vh] = svd(a);
      EXPECT_EQ(largest(s - std::abs(value)), 0);
      EXPECT_EQ(largest(u * unsqueeze(s, -1) * vh - a), 0);
      EXPECT_EQ(largest(abs(u) - 1.0), 0);
      EXPECT_EQ(largest(pinv(a) - (value == 0 ? 0 : 1 / value)), 0);
      EXPECT_EQ(largest(pinv(a, {.atol = 10})), 0);
      EXPECT_EQ(largest(svdvals(a) - std::abs(value)), 0);
    }
  EXPECT_NE(error_of([] { svd(full({1, 1}, NAN)); }).find("not finite"), std::string::npos);
}

TEST(TallMatrices, Pseudoinverses) {
  for_matrices([](const Tensor& a, const std::string& name) {
    if (a.size(0) > 700) return;  // the products here have as many rows and columns
    for (const Tensor& x : {a, adjoint_of(a)}) {
      const Tensor wide = x.to(f64), inverse = pinv(x).to(f64), product = matmul(wide, inverse);
      const double tolerance = 1e5 * epsilon_of(x.dtype());                 // most of it is the matrix' condition
      if (std::isinf(largest(inverse)) || largest(inverse) == 0) continue;  // f32 has none of 1e38
      EXPECT_LE(largest(matmul(product, wide) - wide), tolerance * largest(wide)) << name;
      EXPECT_LE(largest(product - adjoint_of(product)), tolerance) << name;
      const Tensor other = matmul(inverse, wide);
      EXPECT_LE(largest(other - adjoint_of(other)), tolerance) << name;
    }
  });
  for (const DType dtype : {f32, f64}) {  // values up to the tolerance count as zeros
    const Tensor a = cat({eye(3, std::nullopt, dtype), zeros({500, 3}, dtype)}) * tensor({4.0, 2.0, 1e-3}).to(dtype);
    EXPECT_LT(largest(svdvals(pinv(a, {.rtol = 1e-2})).to(f64) - tensor({0.5, 0.25, 0.0}).to(f64)), 1e-7);
    EXPECT_EQ(largest(pinv(zeros({100, 3}, dtype))), 0);
    Tensor none = ones({300, 3}, dtype);
    none[299][2].fill_(INFINITY);
    for (const Tensor& x : {none, adjoint_of(none), none.narrow(0, 290, 10).narrow(1, 2, 1)}) {
      EXPECT_NE(error_of([&] { pinv(x); }).find("not finite"), std::string::npos);
      EXPECT_NE(error_of([&] { svd(x); }).find("not finite"), std::string::npos);
    }
  }
}

// Singular values from 1 to the inverse of a condition, around that where an inverse serves, and where they count as 0.
TEST(TallMatrices, PseudoinversesOfAnyCondition) {
  manual_seed(5);
  for (const auto [m, n] : {Size{2, 2}, {7, 5}, {24, 24}, {25, 25}, {40, 40}, {60, 30}, {900, 12}})
    for (const double decades : {0.0, 2.0, 7.0, 8.0, 9.0, 13.0, 20.0})
      for (const PinvOptions& options :
           {PinvOptions{}, {.rtol = 1e-5}, {.atol = 1e-5}, {.rtol = 1e-12, .atol = 1e-10}}) {
        const Tensor u = qr(randn({m, n}, f64)).q, v = qr(randn({n, n}, f64)).q;
        const Tensor s = pow(full({n}, 10.0, f64), arange(0, n, 1, f64) * (-decades / static_cast<double>(n - 1)));
        const Tensor a = matmul(u * s, adjoint_of(v));
        const double given = options.rtol.value_or(0), atol = options.atol.value_or(0);
        const double limit = std::max(atol, options.rtol || atol > 0 ? given : 0x1p-52 * static_cast<double>(m));
        if (any(abs(log(s / limit)) < 0.1).item<bool>()) continue;  // rounding decides
        const Tensor counts = s > limit, inverse = where(counts, reciprocal(s), zeros({}, f64));
        const Tensor expected = matmul(v * inverse, adjoint_of(u));
        // a is rounded: its pseudoinverse changes by the largest of its values squared.
        EXPECT_LT(largest(pinv(a, options) - expected), 1e-14 * largest(inverse) * largest(inverse) + 1e-14)
            << m << " x " << n << ", 1e" << decades << ", rtol " << given << ", atol " << atol;
      }
  Tensor singular = randn({40, 40}, f64);
  singular.select(0, 7).fill_(0);
  singular.select(1, 3).copy_(singular.select(1, 5));
  const Tensor inverse = pinv(singular);
  EXPECT_LT(largest(matmul(matmul(singular, inverse), singular) - singular), 1e-11);
  EXPECT_LT(largest(matmul(matmul(inverse, singular), inverse) - inverse), 1e-11);
}

/// lstsq() against the pseudoinverse in f64.
// Elements of LU factors grow to 2^n times the largest, though the matrix is well-conditioned.
TEST(TallMatrices, PseudoinversesWhoseFactorsGrow) {
  manual_seed(5);
  for (const DType dtype : {f32, f64})
    for (const int64_t n : {30, 60, 80}) {
      Tensor a = eye(n, std::nullopt, f64) - tril(full({n, n}, 0.9, f64), -1);
      a.select(1, n - 1).copy_(rand({n}, f64) + 0.5);
      a = a.to(dtype);
      const Tensor back = matmul(matmul(a, pinv(a)), a);
      EXPECT_LT(largest(back - a), 1e3 * epsilon_of(dtype)) << n << " " << dtype;
    }
}

TEST(TallMatrices, AtTheEndsOfTheRange) {
  const Tensor tiny = tensor({{1e-310, 0.0}, {0.0, 2e-310}, {0.0, 0.0}, {0.0, 0.0}}, f64);
  EXPECT_EQ(svdvals(tiny).to_vector<double>(), (std::vector<double>{2e-310, 1e-310}));
  EXPECT_EQ(matrix_rank(tiny).item<int64_t>(), 2);
  for (const auto [m, n] : {Size{5, 3}, {60, 30}}) {
    const Tensor a = randn({m, n}, f64), expected = pinv(a);
    EXPECT_LT(largest(pinv(a * 0x1p-1022) * 0x1p-1022 - expected), 1e-12);
    EXPECT_LT(largest(pinv(a * 0x1p1000) * 0x1p1000 - expected), 1e-12);
    for (const double scale : {0x1p-120, 1.0, 0x1p120}) {  // f32 is computed in f64, and rounded once
      const Tensor rounded = a.to(f32) * scale, exact = pinv(rounded.to(f64)) * scale;
      EXPECT_LT(largest(pinv(rounded).to(f64) * scale - exact), 0x1p-23 * largest(exact));
    }
  }
  EXPECT_EQ(pinv(tensor({{49.0}, {0.0}}, f64), {.atol = 49}).to_vector<double>(), (std::vector<double>{0, 0}));
}

void expect_least_squares(const Tensor& a, const Tensor& b, int64_t rank, double tolerance, const std::string& name) {
  const auto [x, residuals, found] = lstsq(a, b);
  const double rtol = epsilon_of(a.dtype()) * static_cast<double>(std::max(a.size(-1), a.size(-2)));
  const Tensor expected = matmul(pinv(a.to(f64), {.rtol = rtol}), b.to(f64));
  EXPECT_LE(largest(x.to(f64) - expected), tolerance * largest(expected)) << name;
  EXPECT_EQ(x.dtype(), promote(a.dtype(), b.dtype())) << name;
  EXPECT_EQ(found.shape(), Shape(a.shape().begin(), a.shape().end() - 2)) << name;
  EXPECT_TRUE(all(found == rank).item<bool>()) << name;
}

TEST(TallMatrices, LeastSquares) {
  struct Case {
    int64_t m, n, rank;
  };
  for (const auto [m, n, rank] : {Case{300, 4, 4},
                                  {300, 6, 3},
                                  {30, 30, 11},
                                  {7, 20, 7},
                                  {7, 20, 3},
                                  {40, 500, 40},
                                  {1, 5, 1},
                                  {9, 1, 1},
                                  {30, 500, 1},
                                  {5, 4, 2}})
    for (const DType dtype : {f32, f64})
      for (const Shape& batch : {Shape{}, Shape{3}})
        for (const int64_t columns : {1, 3}) {
          manual_seed(m + n);
          Shape left = batch, right = batch, given = batch;
          for (const int64_t size : {m, rank}) left.push_back(size);
          for (const int64_t size : {rank, n}) right.push_back(size);
          for (const int64_t size : {m, columns}) given.push_back(size);
          // Whole numbers, so that the product has its rank in f32 too.
          const Tensor a = rank == std::min(m, n)
                               ? randn(batch.empty() ? Shape{m, n} : Shape{3, m, n}, f64)
                               : matmul(round(randn(left, f64) * 3.0), round(randn(right, f64) * 3.0));
          expect_least_squares(a.to(dtype), randn(given, dtype), rank, dtype == f64 ? 1e-11 : 1e-3,
                               text(m, " x ", n, " of rank ", rank, " ", dtype));
        }
}

TEST(TallMatrices, LeastSquaresOfMixedBatches) {
  manual_seed(3);
  const Tensor a = randn({2, 8, 3}, f64), b = randn({4, 2, 8, 1}, f64);
  Tensor mixed = a.clone();
  mixed[1].select(1, 2).copy_(mixed[1].select(1, 0));
  for (const Tensor& x : {mixed, adjoint_of(mixed).contiguous()}) {
    const Tensor right = b.narrow(2, 0, x.size(-2));
    const LstsqResult found = lstsq(x, right);
    EXPECT_LT(largest(found.solution - matmul(pinv(x), right)), 1e-12);
    EXPECT_EQ(found.rank.contiguous().to_vector<int64_t>(), (std::vector<int64_t>{3, 2}));
  }
  // Its diagonal of R does not tell that the rank is not full.
  Tensor kahan = eye(40, std::nullopt, f64);
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = i; j < 40; ++j) kahan[i][j].fill_(std::pow(0.6, i) * (j == i ? 1 : -0.8));
  const Tensor wide = cat({adjoint_of(kahan), zeros({40, 5}, f64)}, -1);
  EXPECT_EQ(lstsq(wide, ones({40, 1}, f64)).rank.item<int64_t>(), matrix_rank(wide).item<int64_t>());
  Tensor none = randn({5, 40});
  none[2][3].fill_(NAN);
  EXPECT_NE(error_of([&] { lstsq(none, ones({5, 1})); }).find("not finite"), std::string::npos);
  EXPECT_NE(error_of([&] { lstsq(adjoint_of(none), ones({40, 1})); }).find("not finite"), std::string::npos);
}

TEST(TallMatrices, BitsDoNotDependOnTheThreads) {
  manual_seed(4);
  for (const DType dtype : {f32, f64}) {
    const Tensor a = randn({20000, 7}, dtype), wider = randn({3000, 30}, dtype);
    const auto all = [&] {
      const auto [u, s, vh] = svd(a.narrow(1, 0, 4), false);
      return std::vector<Tensor>{qr(a).q, u, s, vh, pinv(a), pinv(wider)};
    };
    set_num_threads(1);
    const std::vector<Tensor> expected = all();
    set_num_threads(3);
    const std::vector<Tensor> found = all();
    set_num_threads(2);
    for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(largest(found[i] - expected[i]), 0) << i;
  }
}

// Transpositions of any number of lines and elements, which registers move in whole or in part.
TEST(TallMatrices, Transposed) {
  for (const DType dtype : {f32, f64, i32, i16})
    for (const int64_t m : {1, 2, 3, 4, 5, 9, 13, 16, 17, 31, 40, 100})
      for (int64_t n = 1; n <= 33; ++n) {
        const Tensor x = reshape(arange(0, m * n, 1, i64), {m, n}).to(dtype), turned = adjoint_of(x).contiguous();
        for (const Tensor& y : {turned, cat({x, x}, 1).narrow(1, 0, n).t().contiguous()})
          ASSERT_EQ(largest(y - reshape(arange(0, n, 1, i64), {n, 1}).to(dtype) -
                            reshape(arange(0, m, 1, i64) * n, {1, m}).to(dtype)),
                    0)
              << m << " x " << n << " " << dtype;
      }
}

}  // namespace
}  // namespace weft
