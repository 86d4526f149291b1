#include "tensor/ops/eig.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/kernels/cpu/gemm/scratch_matrix.h"
#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/eigen.h"
#include "tensor/kernels/cpu/linalg/symmetric.h"
#include "tensor/runtime/denormals.h"

namespace weft::kernels::cpu {
namespace {

/// Whether the triangle that is read is finite.
template <class T> bool is_finite_triangle(Matrix<const T> a) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j <= i; ++j)
      if (!std::isfinite(a.at(i, j))) return false;
  return true;
}

template <class T> void eigh(Matrix<const T> a, T* values, const Matrix<T>* vectors) {
  const int64_t n = a.rows;
  const ScratchMatrix<T> work(a.transposed()), rows(vectors == nullptr ? 0 : n, n);  // the lower triangle is read
  Scratch<double> wide_values(n);
  linalg::symmetric_eigen<T>(work, wide_values.data(), vectors == nullptr ? nullptr : &rows);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(wide_values.data()[i]);
  if (vectors != nullptr) copy_matrix<T, T>(rows.transposed(), *vectors);
}

template <class T> bool is_symmetric(Matrix<const T> a) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < i; ++j)
      if (a.at(i, j) != a.at(j, i)) return false;
  return true;
}

/// Of 1 x 1 matrices: they are their values.
template <class T>
void eigh_of_numbers(const Operand& a, const Operand& values, const Operand* vectors, FirstFailure& failed) {
  for_each_matrix(batch_count(a), 10, [&](int64_t i) {
    const T value = matrix_of<const T>(a, i).at(0, 0);
    if (!std::isfinite(value)) return failed.report(i);
    *vector_of<T>(values, i) = value;
    if (vectors != nullptr) matrix_of<T>(*vectors, i).at(0, 0) = 1;
  });
}

/// A few small matrices, one per lane, by Jacobi's rotations, which are the same steps for each. Of these the triangle
/// that is read is finite.
template <class T> class JacobiLanes {
  using V = simd::Vec<T>;
  static constexpr int64_t N = LaneMatrices<T>::N;

 public:
  /// Larger ones take less time one by one: of floats twice as many fit a register.
  static constexpr int64_t kMostRows = std::is_same_v<T, float> ? 28 : 16;
  JacobiLanes(const Operand& a, int64_t first, int64_t count, bool upper, bool vectors)
      : n_(a.size(a.rank() - 1)), upper_(upper), a_(n_, n_), vectors_(vectors ? n_ : 0, n_) {
    a_.load(a, first, count);
    scale();
    vectors_.set_identity();
    // What is beside the diagonal falls through the range of denormal numbers in the last sweeps, each of which squares
    // it: as a rule there are seven.
    const internal::DenormalsFlushed flushed;
    constexpr int kMostSweeps = 40;
    for (int sweep = 0; sweep < kMostSweeps && !is_diagonal(); ++sweep)
      for (int64_t p = 0; p + 1 < n_; ++p)
        for (int64_t q = p + 1; q < n_; ++q) rotate(p, q, vectors ? n_ : 0);
  }
  /// The pairs of lane k in ascending order of the values; no vectors where `vectors` is null.
  void write(int64_t k, T* values, const Matrix<T>* vectors) const {
    int64_t order[kMostRows];
    std::iota(order, order + n_, int64_t{0});
    const auto value = [&](int64_t i) { return a_.at(i, i)[k]; };
    std::stable_sort(order, order + n_, [&](int64_t i, int64_t j) { return value(i) < value(j); });
    for (int64_t j = 0; j < n_; ++j) {
      values[j] = value(order[j]) / scale_[k];
      for (int64_t i = 0; vectors != nullptr && i < n_; ++i) vectors->at(i, j) = vectors_.at(i, order[j])[k];
    }
  }

 private:
  /// Element (i, j), i <= j, of the triangle that is read.
  V& at(int64_t i, int64_t j) const { return upper_ ? a_.at(i, j) : a_.at(j, i); }

  /// By powers of two, so that no square overflows or vanishes.
  void scale() {
    V largest{};
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = i; j < n_; ++j) {
        const V size = at(i, j) < 0 ? -at(i, j) : at(i, j);
        largest = size > largest ? size : largest;
      }
    constexpr int kMost = std::is_same_v<T, float> ? 100 : 900;  // the scale itself is no denormal
    for (int64_t k = 0; k < N; ++k)
      scale_[k] = largest[k] == 0 ? T{1} : std::ldexp(T{1}, -std::clamp(std::ilogb(largest[k]), -kMost, kMost));
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = i; j < n_; ++j) at(i, j) *= scale_;
  }

  bool is_diagonal() const {
    V beside{}, on{};
    for (int64_t i = 0; i < n_; ++i) {
      on += at(i, i) * at(i, i);
      for (int64_t j = i + 1; j < n_; ++j) beside += at(i, j) * at(i, j);
    }
    constexpr T kEps = std::numeric_limits<T>::epsilon() / 8;
    const auto open = beside > on * (kEps * kEps);
    for (int64_t k = 0; k < N; ++k)
      if (open[k] != 0) return false;
    return true;
  }

  /// Makes element (p, q) zero by a turn of axes p and q, by 45 degrees at most; `rows` of the vectors turn too.
  void rotate(int64_t p, int64_t q, int64_t rows) const {
    const V element = at(p, q), one = V{} + 1;
    const auto zero = element == 0;
    const V theta = (at(q, q) - at(p, p)) / (zero ? one : element * 2);
    const V size = theta < 0 ? -theta : theta;
    V tangent = one / (size + vmath::square_root(V(theta * theta + 1)));
    tangent = zero ? V{} : theta < 0 ? -tangent : tangent;
    const V c = one / vmath::square_root(V(tangent * tangent + 1)), s = tangent * c;
    at(p, p) -= tangent * element;
    at(q, q) += tangent * element;
    at(p, q) = V{};
    const auto turn = [&](V& x, V& y) {
      const V before = x;
      x = c * before - s * y;
      y = s * before + c * y;
    };
    for (int64_t i = 0; i < p; ++i) turn(at(i, p), at(i, q));
    for (int64_t i = p + 1; i < q; ++i) turn(at(p, i), at(i, q));
    for (int64_t i = q + 1; i < n_; ++i) turn(at(p, i), at(q, i));
    for (int64_t i = 0; i < rows; ++i) turn(vectors_.at(i, p), vectors_.at(i, q));
  }

  int64_t n_;
  bool upper_;
  V scale_;
  LaneMatrices<T> a_, vectors_;
};

/// For Eigen, in front of it a row and a column of zeros where columns would lie a multiple of 256 bytes apart: they
/// would map to few cache sets, and the solver would take three times as long. The eigenvalue 0 comes first then.
template <class T> linalg::Dense spread(Matrix<const T> a) {
  const int64_t n = a.rows, more = n >= 128 && n % 32 == 0 ? 1 : 0;
  linalg::Dense out = linalg::Dense::Zero(n + more, n + more);
  out.bottomRightCorner(n, n) = linalg::to_eigen(a);
  return out;
}

/// Eigenvalues in the order of the Schur form, and vectors unless it is null; false where one is not real.
template <class T> bool real_pairs(const linalg::Dense& a, int64_t n, T* values, const Matrix<T>* vectors) {
  const Eigen::EigenSolver<linalg::Dense> solver(a, vectors != nullptr);
  if (solver.info() != Eigen::Success) return false;
  const auto& found = solver.eigenvalues();
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::complex<double> value = found[found.size() - n + i];
    if (value.imag() != 0) return false;
    values[i] = static_cast<T>(value.real());
  }
  if (vectors == nullptr) return true;
  linalg::Dense real = solver.pseudoEigenvectors().bottomRightCorner(n, n);
  real.colwise().normalize();
  linalg::from_eigen<T>(real, *vectors);
  return true;
}

/// An order of rows and columns in which eigenvalues stand on the diagonal of an upper triangle before and behind what
/// is left, as far as the zeros of `a` allow: the permutation of LAPACK's gebal. Empty where they allow none.
template <class T> std::vector<int64_t> isolating_order(Matrix<const T> a) {
  std::vector<int64_t> order(static_cast<size_t>(a.rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  int64_t first = 0, last = a.rows - 1;
  const auto place = [&](int64_t i) -> int64_t& { return order[static_cast<size_t>(i)]; };
  // The first i in [first, last] for which element(i, j) is zero for all other j of them; -1 if there is none.
  const auto isolated = [&](const auto& element) {
    for (int64_t i = first; i <= last; ++i) {
      bool alone = true;
      for (int64_t j = first; alone && j <= last; ++j) alone = j == i || element(i, j) == 0;
      if (alone) return i;
    }
    return int64_t{-1};
  };
  const auto in_row = [&](int64_t i, int64_t j) { return a.at(place(i), place(j)); };
  const auto in_column = [&](int64_t i, int64_t j) { return a.at(place(j), place(i)); };
  for (int64_t i = 0; first < last && (i = isolated(in_row)) >= 0; --last) std::swap(place(i), place(last));
  for (int64_t i = 0; first < last && (i = isolated(in_column)) >= 0; ++first) std::swap(place(i), place(first));
  if (first == 0 && last == a.rows - 1) order.clear();
  return order;
}

/// real_pairs() in that order, in which they have fewer rounding errors; false also where there is none.
template <class T> bool isolated_pairs(Matrix<const T> a, T* values, const Matrix<T>* vectors) {
  const std::vector<int64_t> order = isolating_order(a);
  if (order.empty()) return false;
  const int64_t n = a.rows;
  const ScratchMatrix<T> moved(n, n), found(vectors == nullptr ? 0 : n, n);
  const auto place = [&](int64_t i) { return order[static_cast<size_t>(i)]; };
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) moved.at(i, j) = a.at(place(i), place(j));
  if (!real_pairs<T>(spread<T>(moved), n, values, vectors == nullptr ? nullptr : &found)) return false;
  if (vectors == nullptr) return true;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) vectors->at(place(i), j) = found.at(i, j);
  return true;
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft::op {
using namespace kernels::cpu;

void Eigh::cpu(const Operand& a, const Operand& values, const Operand& eigenvectors) const {
  if (a.numel() == 0) return;
  const double n = static_cast<double>(a.size(a.rank() - 1));
  FirstFailure failed;
  visit_precision(a.dtype, [&]<class T>() {
    const auto matrix_at = [&](int64_t i) {
      return upper ? matrix_of<const T>(a, i).transposed() : matrix_of<const T>(a, i);
    };
    if (a.size(a.rank() - 1) == 1) return eigh_of_numbers<T>(a, values, vectors ? &eigenvectors : nullptr, failed);
    if (fills_lanes<T>(a, JacobiLanes<T>::kMostRows))
      return for_lanes_of_matrices<T>(batch_count(a), 9 * n * n * n, [&](int64_t first, int64_t count) {
        bool finite = true;
        for (int64_t i = first; i < first + count; ++i)
          if (!is_finite_triangle(matrix_at(i))) finite = false, failed.report(i);
        if (!finite) return;
        const JacobiLanes<T> found(a, first, count, upper, vectors);
        for (int64_t k = 0; k < count; ++k) {
          const Matrix<T> pairs = vectors ? matrix_of<T>(eigenvectors, first + k) : Matrix<T>{};
          found.write(k, vector_of<T>(values, first + k), vectors ? &pairs : nullptr);
        }
      });
    for_each_matrix(batch_count(a), 9 * n * n * n, [&](int64_t i) {
      const Matrix<const T> matrix = matrix_at(i);
      if (!is_finite_triangle(matrix)) return failed.report(i);
      const Matrix<T> found = vectors ? matrix_of<T>(eigenvectors, i) : Matrix<T>{};
      eigh<T>(matrix, vector_of<T>(values, i), vectors ? &found : nullptr);
    });
  });
  failed.check(a, "has an element that is not finite");
}

void Eig::cpu(const Operand& a, const Operand& values, const Operand& eigenvectors) const {
  if (a.numel() == 0) return;
  const double n = static_cast<double>(a.size(a.rank() - 1));
  FirstFailure infinite, complex;
  visit_precision(a.dtype, [&]<class T>() {
    for_each_matrix(batch_count(a), 25 * n * n * n, [&](int64_t i) {
      const Matrix<const T> given = matrix_of<const T>(a, i);
      const linalg::Dense matrix = spread(given);
      if (!matrix.allFinite()) return infinite.report(i);
      const Matrix<T> found = vectors ? matrix_of<T>(eigenvectors, i) : Matrix<T>{};
      if (real_pairs<T>(matrix, given.rows, vector_of<T>(values, i), vectors ? &found : nullptr)) return;
      // Rounding errors may have made a pair of close ones complex, if there are other ways to find them.
      if (is_symmetric(given)) return eigh<T>(given, vector_of<T>(values, i), vectors ? &found : nullptr);
      if (!isolated_pairs<T>(given, vector_of<T>(values, i), vectors ? &found : nullptr)) complex.report(i);
    });
  });
  infinite.check(a, "has an element that is not finite");
  complex.check(a, "has complex eigenvalues, for which there is no dtype");
}

}  // namespace weft::op
