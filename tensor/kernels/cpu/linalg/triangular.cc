#include "tensor/ops/triangular.h"

#include <limits>

#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/blocked.h"

namespace weft::kernels::cpu {
namespace {

/// Zeros below the diagonal; a is row-major.
template <class T> void clear_lower(Matrix<T> a) {
  for (int64_t i = 0; i < a.rows; ++i) std::fill_n(&a.at(i, 0), i, T{0});
}

constexpr int64_t kCopied = 64, kCopiesOfAThread = 8;  // rows and columns of a tile, of which two fit the L1 cache

/// What is on and above the diagonal moves to the other side of it, and zeros to its place; a is row-major.
template <class T> void move_to_lower(Matrix<T> a) {
  linalg::for_upper_tiles(a.rows, kCopied, kCopiesOfAThread, [&](int64_t i, int64_t rows, int64_t j, int64_t columns) {
    const Matrix<T> upper = a.block(i, j, rows, columns), lower = a.block(j, i, columns, rows);
    if (i != j) copy_matrix_serial<T, T>(upper.transposed(), lower);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t first = i == j ? r + 1 : 0;
      if (i == j)
        for (int64_t c = first; c < columns; ++c) lower.at(c, r) = upper.at(r, c);
      std::fill_n(&upper.at(r, 0) + first, columns - first, T{0});
    }
  });
}

/// u^T u = a in row-major `out`, or its transpose: the lower triangle of a is the upper one of its transpose. Returns
/// what cholesky_in_place() does; where that is not 0, `out` is NaN.
template <class T> int64_t cholesky(Matrix<const T> a, bool upper, Matrix<T> out) {
  const Matrix<const T> from = upper ? a : a.transposed();
  linalg::for_upper_tiles(a.rows, kCopied, kCopiesOfAThread, [&](int64_t i, int64_t rows, int64_t j, int64_t columns) {
    copy_matrix_serial<T, T>(from.block(i, j, rows, columns), out.block(i, j, rows, columns));
  });
  if (const int64_t failed = linalg::cholesky_in_place<T>(out); failed != 0) {
    for (int64_t i = 0; i < out.rows; ++i) std::fill_n(&out.at(i, 0), out.columns, std::numeric_limits<T>::quiet_NaN());
    return failed;
  }
  upper ? clear_lower<T>(out) : move_to_lower<T>(out);
  return 0;
}

/// The same of a few small matrices, one per lane. False where one is not positive definite.
template <class T> bool cholesky_lanes(const Operand& a, int64_t first, int64_t count, bool upper, const Operand& out) {
  using V = simd::Vec<T>;
  const int64_t n = a.size(a.rank() - 1);
  LaneMatrices<T> m(n, n);
  m.load(a, first, count);
  const auto at = [&](int64_t i, int64_t j) -> V& { return upper ? m.at(i, j) : m.at(j, i); };
  auto good = V{} == V{};
  for (int64_t i = 0; i < n; ++i) {
    const V pivot = at(i, i);
    good &= (pivot > 0) & (pivot <= std::numeric_limits<T>::max());
    const V root = vmath::square_root(pivot);
    for (int64_t j = i; j < n; ++j) at(i, j) /= root;
    for (int64_t j = 0; j < i; ++j) at(i, j) = V{};
    for (int64_t k = i + 1; k < n; ++k)
      for (int64_t j = k; j < n; ++j) at(k, j) -= at(i, k) * at(i, j);
  }
  for (int64_t k = 0; k < count; ++k)
    if (good[k] == 0) return false;
  m.store(out, first, count);
  return true;
}

/// The triangles of a few small matrices solved, one per lane. False where one has a zero on its diagonal.
template <class T>
bool solve_lanes(const op::SolveTriangular& op, const Operand& a, const Operand& b, int64_t first, int64_t count,
                 const Operand& out) {
  using V = simd::Vec<T>;
  const int64_t n = a.size(a.rank() - 1), columns = b.size(b.rank() - 1);
  const bool transposed = a.stride(a.rank() - 1) != 1;  // a is loaded as it lies in memory
  const View lying = transposed ? a.view->transpose(-2, -1) : *a.view;
  LaneMatrices<T> m(n, n), x(n, columns);
  m.load(a.with(lying), first, count);
  x.load(b, first, count);
  const auto factor = [&](int64_t i, int64_t k) -> V { return transposed ? m.at(k, i) : m.at(i, k); };
  auto good = V{} == V{};
  for (int64_t i = 0; i < n && !op.unit; ++i) good &= m.at(i, i) != 0;
  for (int64_t k = 0; k < count; ++k)
    if (good[k] == 0) return false;
  for (int64_t done = 0; done < n; ++done) {
    const int64_t i = op.upper ? n - 1 - done : done;
    for (int64_t before = 0; before < done; ++before) {
      const int64_t k = op.upper ? n - 1 - before : before;
      const V by = factor(i, k);
      for (int64_t j = 0; j < columns; ++j) x.at(i, j) -= by * x.at(k, j);
    }
    if (op.unit) continue;
    const V pivot = m.at(i, i);
    for (int64_t j = 0; j < columns; ++j) x.at(i, j) /= pivot;
  }
  x.store(out, first, count);
  return true;
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft::op {
using namespace kernels::cpu;

void Cholesky::cpu(const Operand& a, const Operand& out, const Operand& info) const {
  const double n = static_cast<double>(a.size(a.rank() - 1));
  const int64_t count = batch_count(a);
  for (int64_t i = 0; i < count; ++i) number_of<int32_t>(info, i) = 0;
  if (a.numel() == 0) return;
  FirstFailure failed;
  visit_precision(a.dtype, [&]<class T>() {
    const auto one = [&](int64_t i) {
      const int64_t order = cholesky<T>(matrix_of<const T>(a, i), upper, matrix_of<T>(out, i));
      number_of<int32_t>(info, i) = static_cast<int32_t>(order);
      if (order != 0) failed.report(i);
    };
    if (!fills_lanes<T>(a)) return for_each_matrix(count, n * n * n / 3, one);
    for_lanes_of_matrices<T>(count, n * n * n, [&](int64_t first, int64_t lanes) {
      if (cholesky_lanes<T>(a, first, lanes, upper, out)) return;
      for (int64_t i = first; i < first + lanes; ++i) one(i);  // which of them it was
    });
  });
  if (checked) failed.check(a, "is not positive definite");
}

void SolveTriangular::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  const double n = static_cast<double>(a.size(a.rank() - 1)), columns = static_cast<double>(b.size(b.rank() - 1));
  FirstFailure singular;
  visit_precision(out.dtype, [&]<class T>() {
    const auto one = [&](int64_t i) {
      const Matrix<const T> triangle = matrix_of<const T>(a, i);
      if (!unit && linalg::has_zero_on_diagonal(triangle)) return singular.report(i);
      const Matrix<T> x = matrix_of<T>(out, i);
      if (x.rows == 0 || x.columns == 0) return;
      copy_matrix<T, T>(matrix_of<const T>(b, i), x);
      linalg::solve_triangle<T>(triangle, upper, unit, x);
    };
    // Columns that fill a half of a register are faster one matrix after the other, unless that is small.
    const int64_t most = b.size(b.rank() - 1) > simd::kLanes<T> / 2 ? 16 : 48;
    if (out.numel() == 0 || !fills_lanes<T>(a, most) || !fills_lanes<T>(b, most))
      return for_each_matrix(batch_count(a), n * n * columns / 2, one);
    for_lanes_of_matrices<T>(batch_count(a), n * n * columns, [&](int64_t first, int64_t count) {
      if (solve_lanes<T>(*this, a, b, first, count, out)) return;
      for (int64_t i = first; i < first + count; ++i) one(i);  // which of them it was
    });
  });
  singular.check(a, "is singular: there is a zero on its diagonal");
}

}  // namespace weft::op
