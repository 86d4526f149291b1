#include "tensor/ops/lu.h"

#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/blocked.h"

namespace weft::kernels::cpu {
namespace {

/// lu may be an expanded view: one factorisation for a batch of right sides.
const int32_t* pivots_of(const Operand& pivots, int64_t index, int64_t n, Scratch<int32_t>& copy) {
  const int64_t stride = pivots.stride(pivots.rank() - 1);
  const int32_t* const first = vector_of<const int32_t>(pivots, index);
  if (stride == 1 || n <= 1) return first;
  for (int64_t i = 0; i < n; ++i) copy.data()[i] = first[i * stride];
  return copy.data();
}

template <class T> bool has_zero_pivot(Matrix<const T> lu) {
  for (int64_t i = 0; i < lu.rows; ++i)
    if (lu.at(i, i) == 0) return true;
  return false;
}

/// x = a^-1 x by a = P L U.
template <class T> void solve(Matrix<const T> lu, const int32_t* pivots, Matrix<T> x) {
  for (int64_t i = 0; i < lu.rows; ++i) linalg::swap_rows(x, i, pivots[i] - 1);
  linalg::solve_triangle<T>(lu, false, true, x);
  linalg::solve_triangle<T>(lu, true, false, x);
}
/// x = a^-T x by a^T = U^T L^T P^T.
template <class T> void solve_transposed(Matrix<const T> lu, const int32_t* pivots, Matrix<T> x) {
  linalg::solve_triangle<T>(lu.transposed(), false, false, x);
  linalg::solve_triangle<T>(lu.transposed(), true, true, x);
  for (int64_t i = lu.rows; i-- > 0;) linalg::swap_rows(x, i, pivots[i] - 1);
}

/// The sign of the permutation.
template <class T> T sign_of(const Operand& pivots, int64_t index, int64_t n) {
  const int64_t stride = pivots.stride(pivots.rank() - 1);
  const int32_t* const first = vector_of<const int32_t>(pivots, index);
  bool odd = false;
  for (int64_t i = 0; i < n; ++i) odd ^= first[i * stride] != i + 1;
  return odd ? T{-1} : T{1};
}

template <class T> void each_factor(const Operand& lu, const Operand& pivots, const auto& f) {
  const int64_t n = lu.size(lu.rank() - 1);
  for_each_matrix(batch_count(lu), static_cast<double>(n),
                  [&](int64_t i) { f(i, matrix_of<const T>(lu, i), sign_of<T>(pivots, i, n)); });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft::op {
using namespace kernels::cpu;

void LuFactor::cpu(const Operand& a, const Operand& lu, const Operand& pivots) const {
  if (a.numel() == 0) return;
  const double m = static_cast<double>(a.size(a.rank() - 2)), n = static_cast<double>(a.size(a.rank() - 1));
  visit_precision(a.dtype, [&]<class T>() {
    for_each_matrix(batch_count(a), m * n * std::min(m, n), [&](int64_t i) {
      const Matrix<T> to = matrix_of<T>(lu, i);
      copy_matrix<T, T>(matrix_of<const T>(a, i), to);
      linalg::lu_in_place<T>(to, vector_of<int32_t>(pivots, i));
    });
  });
}

/// Neither a's values nor its strides matter: the factors are read.
void LuSolve::cpu(const Operand&, const Operand& lu, const Operand& pivots, const Operand& b,
                  const Operand& out) const {
  const int64_t n = lu.size(lu.rank() - 1);
  FirstFailure singular;
  visit_precision(out.dtype, [&]<class T>() {
    const double work = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(b.size(b.rank() - 1));
    for_each_matrix(batch_count(lu), work, [&](int64_t i) {
      const Matrix<const T> factors = matrix_of<const T>(lu, i);
      if (has_zero_pivot(factors)) return singular.report(i);
      const Matrix<T> x = matrix_of<T>(out, i);
      if (x.rows == 0 || x.columns == 0) return;
      Scratch<int32_t> copy(n);
      const int32_t* const exchanged = pivots_of(pivots, i, n, copy);
      copy_matrix<T, T>(matrix_of<const T>(b, i), x);
      transposed ? solve_transposed<T>(factors, exchanged, x) : solve<T>(factors, exchanged, x);
    });
  });
  singular.check(lu, "is singular");
}

void Det::cpu(const Operand&, const Operand& lu, const Operand& pivots, const Operand& out) const {
  visit_precision(out.dtype, [&]<class T>() {
    each_factor<T>(lu, pivots, [&](int64_t index, Matrix<const T> factors, T sign) {
      T product = sign;
      for (int64_t i = 0; i < factors.rows; ++i) product *= factors.at(i, i);
      number_of<T>(out, index) = product;
    });
  });
}

void Slogdet::cpu(const Operand&, const Operand& lu, const Operand& pivots, const Operand& sign,
                  const Operand& log) const {
  visit_precision(log.dtype, [&]<class T>() {
    each_factor<T>(lu, pivots, [&](int64_t index, Matrix<const T> factors, T permutation) {
      T product = permutation, sum = 0;
      for (int64_t i = 0; i < factors.rows; ++i) {
        const T pivot = factors.at(i, i);
        product *= pivot > 0 ? T{1} : pivot < 0 ? T{-1} : pivot;  // NaN stays NaN
        sum += std::log(std::abs(pivot));
      }
      number_of<T>(sign, index) = product;
      number_of<T>(log, index) = sum;
    });
  });
}

}  // namespace weft::op
