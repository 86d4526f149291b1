#include "tensor/kernels/cpu/linalg/svd_f32.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tensor/kernels/cpu/linalg/reflectors.h"
#include "tensor/kernels/cpu/linalg/svd_f64.h"
#include "tensor/kernels/cpu/linalg/symmetric.h"

namespace weft::kernels::cpu::linalg {
namespace {

/// f32 matrices with at least as many rows as columns, in f64. The eigenvectors V of a^T a are as precise as f64 is for
/// the square of the largest singular value. Columns of a V are orthogonal to 1e-8 while the singular values lie within
/// a factor of 1e4; else the QR decomposition a V = Q R makes up for it: Q is orthogonal, and R is diagonal but for
/// about 1e-8 of the largest singular value, a sixth of what f32 tells apart.
class TallSvd {
 public:
  explicit TallSvd(Matrix<const float> a)
      : rows_(a.rows), columns_(a.columns), a_(a), v_(columns_, columns_), values_(columns_) {}

  void values(float* s) const {
    find_eigenvectors(nullptr);
    for (int64_t i = 0; i < columns_; ++i)
      s[i] = static_cast<float>(std::sqrt(std::max(values_.data()[columns_ - 1 - i], 0.0)));
  }

  /// u has as many columns as a, or is square; v is square.
  void vectors(float* s, const Matrix<float>& u, const Matrix<float>& v) const {
    const int64_t n = columns_;
    find_eigenvectors(&v_);
    for (int64_t i = 0; i < n / 2; ++i) swap_rows<double>(v_, i, n - 1 - i);  // the largest first
    const ScratchMatrix<double> av(rows_, n);
    const Scratch<double> lengths(n);
    gemm<double>(a_, v_.transposed(), av);
    const bool apart = values_.data()[0] <= 1e-8 * values_.data()[n - 1];
    if (u.columns == n && !apart) {
      set_lengths(av, lengths.data());
      return write(av, lengths.data(), true, s, u, v);
    }
    const ScratchMatrix<double> reflected(rows_, n), t(kReflected, n), q(rows_, u.columns);
    reflect_blocks<double>(av, reflected, t);
    first_columns<double>(reflected, t, q);
    for (int64_t i = 0; i < n; ++i) lengths.data()[i] = av.at(i, i);
    write(q, lengths.data(), false, s, u, v);
  }

 private:
  /// Of a^T a, in ascending order of the values.
  void find_eigenvectors(const Matrix<double>* vectors) const {
    const int64_t n = columns_;
    const ScratchMatrix<double> gram(n, n);
    constexpr int64_t kRows = 128;  // the upper triangle, and what is left of its diagonal blocks
    for (int64_t i = 0; i < n; i += kRows) {
      const int64_t rows = std::min(kRows, n - i);
      gemm<double>(a_.block(0, i, rows_, rows).transposed(), a_.block(0, i, rows_, n - i),
                   gram.block(i, i, rows, n - i));
    }
    symmetric_eigen<double>(gram, values_.data(), vectors);
  }

  static void set_lengths(Matrix<const double> av, double* lengths) {
    std::fill_n(lengths, av.columns, 0.0);
    for (int64_t k = 0; k < av.rows; ++k)
      for (int64_t i = 0; i < av.columns; ++i) lengths[i] += av.at(k, i) * av.at(k, i);
    for (int64_t i = 0; i < av.columns; ++i) lengths[i] = std::sqrt(lengths[i]);
  }

  /// Singular values, which are the lengths without their signs, in descending order, and vectors beside them: columns
  /// of `left`, divided by their lengths where `divide`, and rows of v_, which take the signs.
  void write(Matrix<const double> left, const double* lengths, bool divide, float* s, const Matrix<float>& u,
             const Matrix<float>& v) const {
    const int64_t n = columns_;
    std::vector<int64_t> order(static_cast<size_t>(left.columns));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.begin() + n,
                     [lengths](int64_t i, int64_t j) { return std::abs(lengths[i]) > std::abs(lengths[j]); });
    std::vector<double> factors(static_cast<size_t>(left.columns), 1.0);
    const ScratchMatrix<double> turned(n, n);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = order[static_cast<size_t>(i)];
      s[i] = static_cast<float>(std::abs(lengths[from]));
      if (divide) factors[static_cast<size_t>(i)] = 1 / lengths[from];
      const double sign = lengths[from] < 0 ? -1 : 1;
      for (int64_t k = 0; k < n; ++k) turned.at(i, k) = sign * v_.at(from, k);
    }
    copy_matrix<double, float>(turned.transposed(), v);
    parallel_for(left.rows, 1 + 32768 / left.columns, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k)
        for (int64_t i = 0; i < left.columns; ++i) {
          const auto at = static_cast<size_t>(i);
          u.at(k, i) = static_cast<float>(factors[at] * left.at(k, order[at]));
        }
    });
  }

  int64_t rows_, columns_;
  const ScratchMatrix<double> a_, v_;
  const Scratch<double> values_;
};

}  // namespace

void svd_f32(Matrix<const float> a, bool vectors, float* s, const Matrix<float>& u, const Matrix<float>& vh) {
  if (a.rows == 1 && a.columns == 1) return svd_of_number(a.at(0, 0), vectors, s, u, vh);
  if (a.rows < a.columns) return svd_f32(a.transposed(), vectors, s, vh.transposed(), u.transposed());
  // Where columns are few enough that their squares are not most of the work, and long enough.
  constexpr int64_t kFew = 4, kLong = 400;
  if (a.columns <= kFew && a.rows >= kLong && svd_of_few_columns<float>(a, vectors, s, u, vh)) return;
  const TallSvd svd(a);
  vectors ? svd.vectors(s, u, vh.transposed()) : svd.values(s);
}

}  // namespace weft::kernels::cpu::linalg
