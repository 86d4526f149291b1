// Householder reflections whose vectors lie in rows, as the reductions to tridiagonal and bidiagonal form make them.
#pragma once

#include "tensor/kernels/cpu/linalg/reflectors.h"

namespace weft::kernels::cpu::linalg {

/// `count` reflections I - scale v v^T of vectors of n elements. Row j is the v of reflection j, of which the first
/// j + `skip` elements are 0: it does not change these elements of a vector.
template <class T> class RowReflectors {
 public:
  RowReflectors(int64_t count, int64_t n, int64_t skip)
      : count_(count), n_(n), skip_(skip), vectors_(checked_multiply(count, n)), scales_(count) {}

  T* row(int64_t j) const { return vectors_.data() + j * n_; }
  T scale(int64_t j) const { return scales_.data()[j]; }
  /// Row j holds a vector x; it becomes the v that maps x, from element j + `skip` on, to (beta, 0, ...). Returns beta.
  T make(int64_t j) const {
    std::fill_n(row(j), j + skip_, T{0});
    const auto [scale, beta] = reflection(row(j) + j + skip_, n_ - j - skip_);
    scales_.data()[j] = scale;
    return beta;
  }

  /// Applies all reflections to each row of z, the last reflection first.
  void transform(Matrix<T> z) const {
    Scratch<T> gram(kTogether * kTogether), factor(kTogether * kTogether);
    Scratch<T> first(checked_multiply(z.rows, kTogether)), second(checked_multiply(z.rows, kTogether));
    if (count_ == 0) return;
    for (int64_t panel = (count_ - 1) / kTogether * kTogether; panel >= 0; panel -= kTogether) {
      const int64_t width = std::min(kTogether, count_ - panel), at = panel + skip_;
      const Matrix<const T> v = row_major<const T>(row(panel), width, n_).block(0, at, width, n_ - at);
      const Matrix<T> t = row_major(factor.data(), width, width), g = row_major(gram.data(), width, width);
      gemm<T>(v, v.transposed(), g);
      set_factor(g, scales_.data() + panel, t);
      // z (I - V T V^T)^T = z - ((z V) T^T) V^T
      const Matrix<T> part = z.block(0, at, z.rows, n_ - at);
      const Matrix<T> x = row_major(first.data(), z.rows, width), y = row_major(second.data(), z.rows, width);
      gemm<T>(part, v.transposed(), x);
      gemm<T>(x, t.transposed(), y);
      subtract_product<T>(y, v, part);
    }
  }

 private:
  /// Reflections that are applied together, as one product.
  static constexpr int64_t kTogether = 32;

  /// T of the product I - V T V^T of reflections, from g = V^T V.
  static void set_factor(Matrix<const T> g, const T* scales, Matrix<T> t) {
    for (int64_t j = 0; j < t.columns; ++j) {
      for (int64_t i = 0; i < t.rows; ++i) t.at(i, j) = 0;
      for (int64_t i = 0; i < j; ++i)
        for (int64_t k = i; k < j; ++k) t.at(i, j) -= scales[j] * t.at(i, k) * g.at(k, j);
      t.at(j, j) = scales[j];
    }
  }

  int64_t count_, n_, skip_;
  Scratch<T> vectors_, scales_;
};

}  // namespace weft::kernels::cpu::linalg
