// QR decomposition of tall matrices of few columns, each of which is a run of memory here: what lies between the
// columns is read and written once, and no product has a side that leaves most of a tile empty.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "tensor/kernels/cpu/linalg/reflectors.h"

namespace weft::kernels::cpu::linalg {

/// Whether a TallPanel takes a matrix of this size.
inline bool is_tall_panel(int64_t rows, int64_t columns) { return columns <= kPanel && rows >= columns; }

template <class T> class TallPanel {
 public:
  /// A copy of `a` (m, n), to be factored.
  template <class From>
  explicit TallPanel(Matrix<const From> a)
      : rows_(a.rows),
        n_(a.columns),
        columns_(checked_multiply(rows_, n_)),
        factors_(2 * n_ * n_),
        panel_(row_major(columns_.data(), n_, rows_)),
        t_(row_major(factors_.data(), n_, n_)),
        r_(row_major(factors_.data() + n_ * n_, n_, n_)) {
    if constexpr (std::is_same_v<From, T>) {
      copy_matrix<T, T>(a.transposed(), panel_);
    } else {
      const Scratch<From> given(rows_ * n_);
      copy_matrix<From, From>(a.transposed(), row_major(given.data(), n_, rows_));
      copy_run<From, T>(given.data(), columns_.data(), rows_ * n_);
    }
  }

  void factor() const {
    reflect_panel<T>(panel_, t_);
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j < n_; ++j) {
        r_.at(i, j) = j >= i ? panel_.at(j, i) : T{0};
        if (j >= i) panel_.at(j, i) = j == i ? T{1} : T{0};
      }
  }

  /// factor() of the matrix times a power of two, which is returned: 1 unless squares could overflow or vanish.
  double factor_scaled() const {
    static_assert(std::is_same_v<T, double>);
    constexpr double kLargest = 0x1p400;
    const double most = largest();
    double scale = 1;
    if (most != 0 && !(most < kLargest && most > 1 / kLargest))
      scale = std::ldexp(1.0, -std::clamp(std::ilogb(most), -1000, 1000));
    for (int64_t i = 0; scale != 1 && i < rows_ * n_; ++i) columns_.data()[i] *= scale;
    factor();
    return scale;
  }

  /// The upper triangle R (n, n), with zeros below it.
  const Matrix<T>& r() const { return r_; }

  /// out = Q x for the n columns of Q: x (n, k) row-major, out (m, k).
  template <class Out> void multiply(const Matrix<const T>& x, const Matrix<Out>& out) const {
    constexpr int64_t kRows = 256;  // of a piece, which lies in the L1 cache
    const int64_t k = x.columns;
    const Scratch<T> factors(checked_multiply(n_, k));
    const Matrix<T> w = row_major(factors.data(), n_, k);
    set_factors(x, w);
    parallel_for(ceil_div(rows_, kRows), ceil_div(1 << 16, std::max<int64_t>(1, kRows * n_ * k)),
                 [&](int64_t begin, int64_t end) {
                   const Scratch<T> piece(kRows * k);
                   for (int64_t i = begin * kRows; i < std::min(end * kRows, rows_); i += kRows) {
                     const int64_t count = std::min(kRows, rows_ - i);
                     const Matrix<T> columns = row_major(piece.data(), k, count);
                     int64_t c = 0;
                     for (; c + 4 <= k; c += 4) subtract_columns<4>(w, i, c, columns);
                     for (; c < k; ++c) subtract_columns<1>(w, i, c, columns);
                     for (int64_t j = i; j < std::min(i + count, n_); ++j)
                       for (c = 0; c < k; ++c) columns.at(c, j - i) += x.at(j, c);
                     copy_matrix_serial<T, Out>(columns.transposed(), out.block(i, 0, count, k));
                   }
                 });
  }

 private:
  /// The largest absolute value.
  T largest() const {
    simd::Vec<T> most{};
    for_lanes<T>(rows_ * n_, [&](int64_t i, auto lanes) {
      const simd::Vec<T> x = lanes_at(columns_.data() + i, lanes);
      most = simd::larger(simd::Vec<T>(x < 0 ? -x : x), most);
    });
    T out = 0;
    for (int k = 0; k < simd::kLanes<T>; ++k) out = std::max(out, T{most[k]});
    return out;
  }

  /// w = T V^T (x 0)^T: Q x is (x 0)^T - V w.
  void set_factors(const Matrix<const T>& x, const Matrix<T>& w) const {
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t c = 0; c < x.columns; ++c) w.at(i, c) = 0;
    for (int64_t j = 0; j < n_; ++j)
      for (int64_t i = j; i < n_; ++i) add_multiple<T>(panel_.at(j, i), &x.at(i, 0), &w.at(j, 0), x.columns);
    for (int64_t i = 0; i < n_; ++i) {  // each row of T w has those of w below it
      for (int64_t c = 0; c < x.columns; ++c) w.at(i, c) *= t_.at(i, i);
      for (int64_t j = i + 1; j < n_; ++j) add_multiple<T>(t_.at(i, j), &w.at(j, 0), &w.at(i, 0), x.columns);
    }
  }

  /// Elements [i, i + columns.columns) of columns [c, c + kCount) of -V w.
  template <int kCount>
  void subtract_columns(const Matrix<T>& w, int64_t i, int64_t c, const Matrix<T>& columns) const {
    for_lanes<T>(columns.columns, [&](int64_t at, auto lanes) {
      simd::Vec<T> sums[kCount] = {};
      for (int64_t j = 0; j < n_; ++j) {
        const simd::Vec<T> v = lanes_at(&panel_.at(j, i) + at, lanes);
        const T* const factor = &w.at(j, c);
#pragma GCC unroll 4
        for (int r = 0; r < kCount; ++r) sums[r] -= factor[r] * v;
      }
#pragma GCC unroll 4
      for (int r = 0; r < kCount; ++r) put_lanes(&columns.at(c + r, at), sums[r], lanes);
    });
  }

  int64_t rows_, n_;
  Scratch<T> columns_, factors_;
  Matrix<T> panel_, t_, r_;  // the columns as rows; V in their place, once they are factored
};

}  // namespace weft::kernels::cpu::linalg
