// Symmetric matrices to tridiagonal form, a = Q T Q^T, by Householder reflections in panels (LAPACK's sytrd, Dongarra,
// Sorensen and Hammarling 1989): half of the work is products of a matrix and a vector, the other half of matrices.
#pragma once

#include "tensor/kernels/cpu/linalg/row_reflectors.h"

namespace weft::kernels::cpu::linalg {

/// Columns that are reduced before the rest of the matrix is updated.
inline constexpr int64_t kReduced = 32;

/// Some rows of y += a x for symmetric row-major `a`, of which the upper triangle is read once: row i times x, and its
/// elements beyond the diagonal times x[i]. Rows four at a time.
template <class T> void add_symmetric_rows(Matrix<const T> a, const T* x, T* y, int64_t begin, int64_t end) {
  const int64_t n = a.columns;
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const T *const r0 = a.data + i * a.row_stride, *const r1 = r0 + a.row_stride, *const r2 = r1 + a.row_stride,
                   *const r3 = r2 + a.row_stride;
    const T x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
    y[i] += r0[i] * x0 + r0[i + 1] * x1 + r0[i + 2] * x2 + r0[i + 3] * x3;
    y[i + 1] += r0[i + 1] * x0 + r1[i + 1] * x1 + r1[i + 2] * x2 + r1[i + 3] * x3;
    y[i + 2] += r0[i + 2] * x0 + r1[i + 2] * x1 + r2[i + 2] * x2 + r2[i + 3] * x3;
    y[i + 3] += r0[i + 3] * x0 + r1[i + 3] * x1 + r2[i + 3] * x2 + r3[i + 3] * x3;
    simd::Vec<T> s0 = {}, s1 = {}, s2 = {}, s3 = {};
    const int64_t first = i + 4;
    for_lanes<T>(n - first, [&](int64_t k, auto lanes) {
      const int64_t j = first + k;
      const simd::Vec<T> a0 = lanes_at(r0 + j, lanes), a1 = lanes_at(r1 + j, lanes), a2 = lanes_at(r2 + j, lanes),
                         a3 = lanes_at(r3 + j, lanes), v = lanes_at(x + j, lanes);
      s0 += a0 * v;
      s1 += a1 * v;
      s2 += a2 * v;
      s3 += a3 * v;
      put_lanes(y + j, simd::Vec<T>(lanes_at(y + j, lanes) + a0 * x0 + a1 * x1 + (a2 * x2 + a3 * x3)), lanes);
    });
    y[i] += sum_of_lanes<T>(s0);
    y[i + 1] += sum_of_lanes<T>(s1);
    y[i + 2] += sum_of_lanes<T>(s2);
    y[i + 3] += sum_of_lanes<T>(s3);
  }
  for (; i < end; ++i) {
    const T* const row = a.data + i * a.row_stride;
    y[i] += inner_product(row + i, x + i, n - i);
    add_multiple(x[i], row + i + 1, y + i + 1, n - i - 1);
  }
}

/// y = a x. A large matrix is cut in bands of about as many elements, with sums of their own, by its size alone: the
/// bits are the same at any thread count.
template <class T> void multiply_symmetric(Matrix<const T> a, const T* x, T* y) {
  constexpr int64_t kBands = 8;
  const int64_t n = a.rows;
  std::fill_n(y, n, T{0});
  if (n < 192) return add_symmetric_rows(a, x, y, 0, n);
  Scratch<T> room(checked_multiply(kBands, n));
  // Below row n (1 - sqrt(1 - b / bands)) lies that share of the triangle.
  const auto begin_of = [n](int64_t band) {
    return n - static_cast<int64_t>(static_cast<double>(n) * std::sqrt(1 - static_cast<double>(band) / kBands));
  };
  const int64_t grain = n < 384 ? kBands : 1;  // sooner done than a second thread has begun
  parallel_for(kBands, grain, [&](int64_t band, int64_t stop) {
    for (; band < stop; ++band) {
      T* const sums = room.data() + band * n;
      std::fill_n(sums, n, T{0});
      add_symmetric_rows(a, x, sums, begin_of(band), begin_of(band + 1));
    }
  });
  for (int64_t band = 0; band < kBands; ++band)
    for (int64_t i = begin_of(band); i < n; ++i) y[i] += room.data()[band * n + i];
}

/// y += f[2 i] v_i + f[2 i + 1] w_i for i < count, one after the other, for vectors that lie `stride` apart: y is read
/// and written once, a few registers at a time, of which none waits for another.
template <class T> void add_pairs(const T* f, int64_t count, const T* v, const T* w, int64_t stride, T* y, int64_t n) {
  constexpr int64_t N = simd::kLanes<T>, kLongest = 2048 / sizeof(T);
  constexpr int kVectors = 4;
  for (int64_t i = 0; stride > kLongest && i < count; ++i) {  // they come to the cache faster one by one
    add_multiple(f[2 * i], v + i * stride, y, n);
    add_multiple(f[2 * i + 1], w + i * stride, y, n);
  }
  if (stride > kLongest) return;
  int64_t k = 0;
  for (; k + kVectors * N <= n; k += kVectors * N) {
    simd::Vec<T> sums[kVectors];
    for (int r = 0; r < kVectors; ++r) sums[r] = simd::load<T>(y + k + r * N);
    for (int64_t i = 0; i < count; ++i)
      for (int r = 0; r < kVectors; ++r) {
        sums[r] += f[2 * i] * simd::load<T>(v + i * stride + k + r * N);
        sums[r] += f[2 * i + 1] * simd::load<T>(w + i * stride + k + r * N);
      }
    for (int r = 0; r < kVectors; ++r) simd::store<T>(y + k + r * N, sums[r]);
  }
  for_lanes<T>(n - k, [&](int64_t first, auto lanes) {
    const int64_t at = k + first;
    simd::Vec<T> sum = lanes_at(y + at, lanes);
    for (int64_t i = 0; i < count; ++i) {
      sum += f[2 * i] * lanes_at(v + i * stride + at, lanes);
      sum += f[2 * i + 1] * lanes_at(w + i * stride + at, lanes);
    }
    put_lanes(y + at, sum, lanes);
  });
}

/// Reduces a symmetric matrix.
template <class T> class Tridiagonal {
 public:
  /// Row-major `a`, of which the upper triangle is read, is overwritten. The diagonal of T is written to d (n), the
  /// subdiagonal to e (n - 1).
  Tridiagonal(Matrix<T> a, double* d, double* e)
      : n_(a.rows), reflectors_(std::max<int64_t>(0, n_ - 2), n_, 1), a_(a), d_(d), e_(e) {
    for (int64_t first = 0; first + 2 < n_; first += kReduced) reduce_panel(first);
    for (int64_t i = std::max<int64_t>(0, n_ - 2); i < n_; ++i) d_[i] = a.at(i, i);
    if (n_ > 1) e_[n_ - 2] = a.at(n_ - 2, n_ - 1);
  }

  /// Rows of z, which are vectors of T, become the vectors Q z of a.
  void transform(Matrix<T> z) const { reflectors_.transform(z); }

 private:
  int64_t width_of(int64_t panel) const { return std::min(kReduced, n_ - 2 - panel); }

  void reduce_panel(int64_t first) {
    const int64_t width = width_of(first);
    // V, W, V: the upper and the lower two thirds are the sides of V W^T + W V^T.
    Scratch<T> sides(checked_multiply(3 * width, n_));
    const Matrix<T> v = row_major(reflectors_.row(first), width, n_);
    const Matrix<T> w = row_major(sides.data() + width * n_, width, n_);
    for (int64_t k = 0; k < width; ++k) {
      const int64_t j = first + k, left = n_ - j - 1;
      T* const row = &a_.at(j, 0);
      T factors[2 * kReduced];
      for (int64_t i = 0; i < k; ++i) factors[2 * i] = -v.at(i, j), factors[2 * i + 1] = -w.at(i, j);
      add_pairs(factors, k, &w.at(0, j), &v.at(0, j), n_, row + j, n_ - j);
      d_[j] = row[j];
      T *const x = &v.at(k, j + 1), *const y = &w.at(k, j + 1);
      std::fill_n(&w.at(k, 0), j + 1, T{0});
      std::copy_n(row + j + 1, left, x);
      e_[j] = reflectors_.make(j);
      multiply_symmetric<T>(a_.block(j + 1, j + 1, left, left), x, y);
      const T *const before = &v.at(0, j + 1), *const beside = &w.at(0, j + 1);
      for (int64_t i = 0; i < k; ++i) {
        factors[2 * i] = -inner_product(beside + i * n_, x, left);
        factors[2 * i + 1] = -inner_product(before + i * n_, x, left);
      }
      add_pairs(factors, k, before, beside, n_, y, left);
      const T scale = reflectors_.scale(j);
      for (int64_t i = 0; i < left; ++i) y[i] *= scale;
      add_multiple(-scale / 2 * inner_product(x, y, left), x, y, left);
    }
    const int64_t begin = first + width;
    std::copy_n(v.data, width * n_, sides.data());
    std::copy_n(v.data, width * n_, sides.data() + 2 * width * n_);
    constexpr int64_t kRows = 128;  // what is left of the diagonal blocks is computed for nothing
    const Matrix<T> up = row_major(sides.data(), 2 * width, n_), down = row_major(w.data, 2 * width, n_);
    for (int64_t i = begin; i < n_; i += kRows) {
      const int64_t rows = std::min(kRows, n_ - i);
      subtract_product<T>(up.block(0, i, 2 * width, rows).transposed(), down.block(0, i, 2 * width, n_ - i),
                          a_.block(i, i, rows, n_ - i));
    }
  }

  int64_t n_;
  RowReflectors<T> reflectors_;
  Matrix<T> a_;
  double *d_, *e_;
};

}  // namespace weft::kernels::cpu::linalg
