#include "tensor/ops/lu.h"

#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/blocked_lu.h"

namespace weft::kernels::cpu {
namespace {

/// Integers as wide as T, for the lanes beside its.
template <class T> using LaneInteger = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

/// lu may be an expanded view: one factorization for a batch of right sides.
const int32_t* pivots_of(const Operand& pivots, int64_t index, int64_t n, Scratch<int32_t>& copy) {
  const int64_t stride = pivots.stride(pivots.rank() - 1);
  const int32_t* const first = vector_of<const int32_t>(pivots, index);
  if (stride == 1 || n <= 1) return first;
  for (int64_t i = 0; i < n; ++i) copy.data()[i] = first[i * stride];
  return copy.data();
}

/// x = a^-T x by a^T = U^T L^T P^T.
template <class T> void solve_transposed(Matrix<const T> lu, const int32_t* pivots, Matrix<T> x) {
  linalg::solve_triangle<T>(lu.transposed(), false, false, x);
  linalg::solve_triangle<T>(lu.transposed(), true, true, x);
  for (int64_t i = lu.rows; i-- > 0;) linalg::swap_rows(x, i, pivots[i] - 1);
}

/// Lane by lane, rows i and k[lane] >= i change places.
template <class T, class I> void swap_rows(const LaneMatrices<T>& m, int64_t rows, int64_t columns, int64_t i, I k) {
  for (int64_t r = i + 1; r < rows; ++r) {
    const auto chosen = k == static_cast<LaneInteger<T>>(r);
    for (int64_t j = 0; j < columns; ++j) {
      const auto upper = m.at(i, j), lower = m.at(r, j);
      m.at(i, j) = chosen ? lower : upper;
      m.at(r, j) = chosen ? upper : lower;
    }
  }
}

/// LU of a few small matrices, one per lane, as linalg::lu_in_place().
template <class T>
void factor_lanes(const Operand& a, int64_t first, int64_t count, const Operand& lu, const Operand& pivots) {
  using V = simd::Vec<T>;
  using I = simd::Vec<LaneInteger<T>>;
  const int64_t rows = a.size(a.rank() - 2), columns = a.size(a.rank() - 1), n = std::min(rows, columns);
  LaneMatrices<T> m(rows, columns);
  m.load(a, first, count);
  const auto size = [](V v) { return v < 0 ? -v : v; };
  for (int64_t j = 0; j < n; ++j) {
    V most = size(m.at(j, j));
    I best = simd::splat<LaneInteger<T>>(static_cast<LaneInteger<T>>(j));
    for (int64_t i = j + 1; i < rows; ++i) {
      const V v = size(m.at(i, j));
      best = v > most ? simd::splat<LaneInteger<T>>(static_cast<LaneInteger<T>>(i)) : best;
      most = v > most ? v : most;
    }
    for (int64_t k = 0; k < count; ++k) vector_of<int32_t>(pivots, first + k)[j] = static_cast<int32_t>(best[k]) + 1;
    swap_rows(m, rows, columns, j, best);
    const V pivot = m.at(j, j);
    for (int64_t i = j + 1; i < rows; ++i) {
      V& factor = m.at(i, j);
      factor = pivot == 0 ? factor : factor / pivot;  // where it is 0, so is all below it: nothing to eliminate
      for (int64_t k = j + 1; k < columns; ++k) m.at(i, k) -= factor * m.at(j, k);
    }
  }
  m.store(lu, first, count);
}

/// Rows of x change places as solve_factored() exchanges them, and back where `transposed`.
template <class T>
void exchange_lanes(const LaneMatrices<T>& x, int64_t n, int64_t columns, const Operand& pivots, int64_t first,
                    int64_t count, bool transposed) {
  const int64_t stride = pivots.stride(pivots.rank() - 1);
  const int32_t* exchanged[LaneMatrices<T>::N];
  for (int64_t k = 0; k < count; ++k) exchanged[k] = vector_of<const int32_t>(pivots, first + k);
  for (int64_t done = 0; done + 1 < n; ++done) {
    const int64_t i = transposed ? n - 2 - done : done;
    simd::Vec<LaneInteger<T>> row = simd::splat<LaneInteger<T>>(static_cast<LaneInteger<T>>(i));
    for (int64_t k = 0; k < count; ++k) row[k] = exchanged[k][i * stride] - 1;
    swap_rows(x, n, columns, i, row);
  }
}

/// solve_factored() or solve_transposed() of a few small matrices, none of which has a zero pivot.
template <class T, bool kTransposed>
void solve_lanes(const Operand& lu, const Operand& pivots, const Operand& b, int64_t first, int64_t count,
                 const Operand& out) {
  const int64_t n = lu.size(lu.rank() - 1), columns = b.size(b.rank() - 1);
  LaneMatrices<T> m(n, n), x(n, columns);
  m.load(lu, first, count);
  x.load(b, first, count);
  const auto subtract = [&](int64_t i, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      for (int64_t j = 0; j < columns; ++j) x.at(i, j) -= (kTransposed ? m.at(k, i) : m.at(i, k)) * x.at(k, j);
  };
  const auto divide = [&](int64_t i) {
    for (int64_t j = 0; j < columns; ++j) x.at(i, j) /= m.at(i, i);
  };
  if (!kTransposed) exchange_lanes<T>(x, n, columns, pivots, first, count, false);
  for (int64_t i = 0; i < n; ++i) {
    subtract(i, 0, i);
    if (kTransposed) divide(i);
  }
  for (int64_t i = n; i-- > 0;) {
    subtract(i, i + 1, n);
    if (!kTransposed) divide(i);
  }
  if (kTransposed) exchange_lanes<T>(x, n, columns, pivots, first, count, true);
  x.store(out, first, count);
}

/// The sign of the permutation.
template <class T> T sign_of(const Operand& pivots, int64_t index, int64_t n) {
  const int64_t stride = pivots.stride(pivots.rank() - 1);
  const int32_t* const first = vector_of<const int32_t>(pivots, index);
  bool odd = false;
  for (int64_t i = 0; i < n; ++i) odd ^= first[i * stride] != i + 1;
  return odd ? T{-1} : T{1};
}

/// Error for the first of the matrices whose U has a zero on its diagonal.
template <class T> void check_regular(const Operand& lu) {
  FirstFailure singular;
  for (int64_t i = 0; i < batch_count(lu); ++i) {
    const Matrix<const T> factors = matrix_of<const T>(lu, i);
    const int64_t n = std::min(factors.rows, factors.columns);
    if (linalg::has_zero_on_diagonal(factors.block(0, 0, n, n))) singular.report(i);
  }
  singular.check(lu, "is singular; lu_factor_ex() and lu() factor such ones too");
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
    if (fills_lanes<T>(a))
      return for_lanes_of_matrices<T>(batch_count(a), m * n * m, [&](int64_t first, int64_t count) {
        factor_lanes<T>(a, first, count, lu, pivots);
      });
    for_each_matrix(batch_count(a), m * n * std::min(m, n), [&](int64_t i) {
      const Matrix<T> to = matrix_of<T>(lu, i);
      copy_matrix<T, T>(matrix_of<const T>(a, i), to);
      linalg::lu_in_place<T>(to, vector_of<int32_t>(pivots, i));
    });
  });
  if (checked) visit_precision(a.dtype, [&]<class T>() { check_regular<T>(lu); });
}

void PivotOrder::cpu(const Operand& pivots, const Operand& order) const {
  const int64_t count = rows == 0 ? 0 : order.numel() / rows, exchanges = pivots.size(pivots.rank() - 1);
  const int64_t stride = pivots.stride(pivots.rank() - 1);
  Scratch<int64_t> moved(rows);
  for (int64_t index = 0; index < count; ++index) {
    int64_t* const out = vector_of<int64_t>(order, index);
    int64_t* const rows_of_a = inverse ? moved.data() : out;
    const int32_t* const exchanged = vector_of<const int32_t>(pivots, index);
    std::iota(rows_of_a, rows_of_a + rows, int64_t{0});
    for (int64_t i = 0; i < exchanges; ++i) {
      const int64_t with = exchanged[i * stride];
      if (with <= i || with > rows)
        throw IndexError(text("pivot ", i, " must be a number from ", i + 1, " to ", rows, ", not ", with));
      std::swap(rows_of_a[i], rows_of_a[with - 1]);
    }
    for (int64_t i = 0; inverse && i < rows; ++i) out[rows_of_a[i]] = i;
  }
}

/// Neither a's values nor its strides matter: the factors are read.
void LuSolve::cpu(const Operand&, const Operand& lu, const Operand& pivots, const Operand& b,
                  const Operand& out) const {
  const int64_t n = lu.size(lu.rank() - 1);
  FirstFailure singular;
  visit_precision(out.dtype, [&]<class T>() {
    const double work = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(b.size(b.rank() - 1));
    if (out.numel() > 0 && fills_lanes<T>(lu) && fills_lanes<T>(b))
      return for_lanes_of_matrices<T>(batch_count(lu), work, [&](int64_t first, int64_t count) {
        bool solvable = true;
        for (int64_t i = first; i < first + count; ++i)
          if (linalg::has_zero_on_diagonal(matrix_of<const T>(lu, i))) solvable = false, singular.report(i);
        if (solvable) (transposed ? solve_lanes<T, true> : solve_lanes<T, false>)(lu, pivots, b, first, count, out);
      });
    for_each_matrix(batch_count(lu), work, [&](int64_t i) {
      const Matrix<const T> factors = matrix_of<const T>(lu, i);
      if (linalg::has_zero_on_diagonal(factors)) return singular.report(i);
      const Matrix<T> x = matrix_of<T>(out, i);
      if (x.rows == 0 || x.columns == 0) return;
      Scratch<int32_t> copy(n);
      const int32_t* const exchanged = pivots_of(pivots, i, n, copy);
      copy_matrix<T, T>(matrix_of<const T>(b, i), x);
      linalg::for_column_blocks(x.columns, static_cast<double>(n * n), [&](int64_t first, int64_t count) {
        const Matrix<T> block = x.block(0, first, n, count);
        transposed ? solve_transposed<T>(factors, exchanged, block)
                   : linalg::solve_factored<T>(factors, exchanged, block);
      });
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
