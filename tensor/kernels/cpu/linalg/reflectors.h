// Householder reflections in the compact form Q = I - V T V^T (Schreiber and Van Loan 1989), by halving the columns
// (Elmroth and Gustavson 2000), so that nearly all of the work is matrix products.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "tensor/kernels/cpu/gemm/scratch_matrix.h"
#include "tensor/kernels/cpu/linalg/blocked.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"

namespace weft::kernels::cpu::linalg {

/// Columns of a panel that is not split.
inline constexpr int64_t kPanel = 24;

template <class T> T sum_of_lanes(simd::Vec<T> v) { return simd::fold_lanes<Add, T, simd::kLanes<T>>(v); }

/// x^T y. The last register is filled in part: vectors are often short, and g++'s own loop would do the rest of them
/// element by element.
template <class T> T inner_product(const T* x, const T* y, int64_t n) {
  if (n < simd::kLanes<T>) {
    T sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
  }
  constexpr int64_t N = simd::kLanes<T>;
  simd::Vec<T> sums = {}, others = {};  // two sums, as each addition waits for the one before it
  int64_t first = 0;
  for (; first + 2 * N <= n; first += 2 * N) {
    sums += simd::load<T>(x + first) * simd::load<T>(y + first);
    others += simd::load<T>(x + first + N) * simd::load<T>(y + first + N);
  }
  for_lanes<T>(n - first,
               [&](int64_t i, auto lanes) { sums += lanes_at(x + first + i, lanes) * lanes_at(y + first + i, lanes); });
  return sum_of_lanes<T>(sums + others);
}

/// y += factor x
template <class T> void add_multiple(T factor, const T* x, T* y, int64_t n) {
  if (n < simd::kLanes<T>) {
    for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
    return;
  }
  for_lanes<T>(n, [&](int64_t i, auto lanes) {
    put_lanes(y + i, simd::Vec<T>(lanes_at(y + i, lanes) + factor * lanes_at(x + i, lanes)), lanes);
  });
}

/// Sums of squares in this range are precise: none of the squares that matter has overflowed or lost digits.
template <class T> inline constexpr T kLeastSquares = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
template <class T> bool is_precise_square(T x) { return x > kLeastSquares<T> && x <= std::numeric_limits<T>::max(); }

/// The length of x, scaled so that squares neither overflow nor vanish.
template <class T> T length_of(const T* x, int64_t n) {
  T largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::abs(x[i]) > largest || std::isnan(x[i]) ? std::abs(x[i]) : largest;
  if (largest == 0 || !std::isfinite(largest)) return largest;
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += (x[i] / largest) * (x[i] / largest);
  return largest * std::sqrt(sum);
}

/// The reflection I - tau v v^T that maps x to (beta, 0, ...): v, with v[0] = 1, takes the place of x.
template <class T> std::pair<T, T> reflection(T* x, int64_t n) {
  const T alpha = x[0], squares = inner_product(x + 1, x + 1, n - 1);
  T length = std::sqrt(alpha * alpha + squares);
  if (!is_precise_square(squares) || !is_precise_square(length * length)) {
    const T rest = length_of(x + 1, n - 1);
    if (rest == 0) {
      x[0] = 1;
      return {T{0}, alpha};
    }
    length = std::hypot(alpha, rest);
    if (length < kLeastSquares<T>) {  // so small that numbers have lost digits, or that their inverses are infinite
      for (int64_t i = 0; i < n; ++i) x[i] /= kLeastSquares<T>;
      const auto [tau, beta] = reflection(x, n);
      return {tau, beta * kLeastSquares<T>};
    }
  }
  const T beta = -std::copysign(length, alpha), inverse = 1 / (alpha - beta);
  x[0] = 1;
  for (int64_t i = 1; i < n; ++i) x[i] *= inverse;
  return {(beta - alpha) / beta, beta};
}

/// out[i] = x^T y_i for kCount vectors y_i, which lie `stride` apart: x is read once for all of them.
template <int kCount, class T> void inner_products(const T* x, const T* y, int64_t stride, int64_t n, T* out) {
  simd::Vec<T> sums[kCount] = {};
  for_lanes<T>(n, [&](int64_t k, auto lanes) {
    const simd::Vec<T> factor = lanes_at(x + k, lanes);
    for (int i = 0; i < kCount; ++i) sums[i] += factor * lanes_at(y + i * stride + k, lanes);
  });
  for (int i = 0; i < kCount; ++i) out[i] = sum_of_lanes<T>(sums[i]);
}

/// y_i -= tau v v^T y_i for kCount vectors y_i, which lie `stride` apart.
template <int kCount, class T> void reflect_vectors(const T* v, T tau, T* y, int64_t stride, int64_t n) {
  T factors[kCount];
  inner_products<kCount>(v, y, stride, n, factors);
  for (T& factor : factors) factor *= tau;
  for_lanes<T>(n, [&](int64_t k, auto lanes) {
    const simd::Vec<T> x = lanes_at(v + k, lanes);
    for (int i = 0; i < kCount; ++i) {
      T* const to = y + i * stride + k;
      put_lanes(to, simd::Vec<T>(lanes_at(to, lanes) - factors[i] * x), lanes);
    }
  });
}

/// reflect() of a few columns, which are the rows of row-major `panel`; a row of `t` is a run of memory.
template <class T> void reflect_panel(Matrix<T> panel, Matrix<T> t) {
  const int64_t m = panel.columns, n = panel.rows;
  for (int64_t j = 0; j < n; ++j) {
    T* const v = &panel.at(j, 0);
    const auto [tau, beta] = reflection(v + j, m - j);
    int64_t k = j + 1, i = 0;
    for (; k + 4 <= n; k += 4) reflect_vectors<4>(v + j, tau, &panel.at(k, j), m, m - j);
    for (; k < n; ++k) reflect_vectors<1>(v + j, tau, &panel.at(k, j), m, m - j);
    // V^T v, in place of row j of T until column j is made of it.
    for (; i + 4 <= j; i += 4) inner_products<4>(v + j, &panel.at(i, j), m, m - j, &t.at(j, i));
    for (; i < j; ++i) inner_products<1>(v + j, &panel.at(i, j), m, m - j, &t.at(j, i));
    for (i = 0; i < j; ++i) {
      T sum = 0;
      for (k = i; k < j; ++k) sum += t.at(i, k) * t.at(j, k);
      t.at(i, j) = -tau * sum;
    }
    for (i = 0; i < j; ++i) t.at(j, i) = 0;
    t.at(j, j) = tau;
    // v[j] is known to be 1: its place holds beta, an element of R, until the panel is copied back.
    v[j] = beta;
  }
}

/// A block of columns of `a` (m, n), m >= n, row-major: R is written on and above the diagonal, V (m, n), unit lower
/// trapezoidal, in v, and T (n, n), upper triangular, in t.
template <class T> void reflect(Matrix<T> a, Matrix<T> v, Matrix<T> t) {
  const int64_t m = a.rows, n = a.columns;
  if (n <= kPanel) {
    const ScratchMatrix<T> panel(n, m);
    copy_matrix_serial<T, T>(a.transposed(), panel);
    reflect_panel<T>(panel, t);
    copy_matrix_serial<T, T>(panel.transposed(), v);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i; j < n; ++j) a.at(i, j) = v.at(i, j), v.at(i, j) = j == i ? T{1} : T{0};
    return;
  }
  const int64_t h = half(n), rest = n - h;
  const Matrix<T> v1 = v.block(0, 0, m, h), t1 = t.block(0, 0, h, h), right = a.block(0, h, m, rest);
  reflect<T>(a.block(0, 0, m, h), v1, t1);
  const ScratchMatrix<T> x(h, rest), y(h, rest);
  gemm<T>(v1.transposed(), right, x);
  gemm<T>(t1.transposed(), x, y);
  subtract_product<T>(v1, y, right);
  const Matrix<T> v2 = v.block(h, h, m - h, rest), t2 = t.block(h, h, rest, rest);
  reflect<T>(right.block(h, 0, m - h, rest), v2, t2);
  for (int64_t i = 0; i < h; ++i)
    for (int64_t j = h; j < n; ++j) v.at(i, j) = 0;
  // T12 = -T1 V1^T V2 T2
  gemm<T>(v1.block(h, 0, m - h, h).transposed(), v2, x);
  gemm<T>(x, t2, y);
  const Matrix<T> corner = t.block(0, h, h, rest);
  for (int64_t i = 0; i < h; ++i)
    for (int64_t j = 0; j < rest; ++j) corner.at(i, j) = 0, t.at(h + j, i) = 0;
  subtract_product<T>(t1, y, corner);
}

/// Columns whose reflections have a T of their own.
inline constexpr int64_t kReflected = 64;

/// As many columns of `a` (m, n) as it has rows, block by block: R and V (m, n) as of reflect(), and the T of the block
/// from column k on in t (kReflected, n), from column k on.
template <class T> void reflect_blocks(Matrix<T> a, Matrix<T> v, Matrix<T> t) {
  const int64_t m = a.rows, n = a.columns;
  Scratch<T> first(checked_multiply(kReflected, n)), second(checked_multiply(kReflected, n));
  for (int64_t k = 0; k < n; k += kReflected) {
    const int64_t width = std::min(kReflected, n - k), rest = n - k - width;
    for (int64_t i = 0; i < k; ++i) std::fill_n(&v.at(i, k), width, T{0});
    const Matrix<T> block = v.block(k, k, m - k, width), factor = t.block(0, k, width, width);
    reflect<T>(a.block(k, k, m - k, width), block, factor);
    if (rest == 0) return;
    const Matrix<T> right = a.block(k, k + width, m - k, rest);
    const Matrix<T> x = row_major(first.data(), width, rest), y = row_major(second.data(), width, rest);
    gemm<T>(block.transposed(), right, x);
    gemm<T>(factor.transposed(), x, y);
    subtract_product<T>(block, y, right);
  }
}

template <class T> void set_identity(Matrix<T> a) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) a.at(i, j) = i == j ? T{1} : T{0};
}

/// to = the upper triangle of `from`, with zeros below it; `from` has at least as many rows.
template <class T> void copy_upper_triangle(Matrix<const T> from, Matrix<T> to) {
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t j = 0; j < to.columns; ++j) to.at(i, j) = j >= i ? from.at(i, j) : T{0};
}

/// The first columns of the product of I - V T V^T over the blocks of reflect_blocks(), as many as q has.
template <class T> void first_columns(Matrix<const T> v, Matrix<const T> t, Matrix<T> q) {
  const int64_t m = v.rows, n = v.columns;
  set_identity(q);
  if (n == 0) return;
  Scratch<T> first(checked_multiply(kReflected, q.columns)), second(checked_multiply(kReflected, q.columns));
  for (int64_t k = (n - 1) / kReflected * kReflected; k >= 0; k -= kReflected) {
    const int64_t width = std::min(kReflected, n - k), columns = q.columns - k;
    if (columns <= 0) continue;
    const Matrix<const T> block = v.block(k, k, m - k, width);
    const Matrix<T> part = q.block(k, k, m - k, columns);
    const Matrix<T> x = row_major(first.data(), width, columns), y = row_major(second.data(), width, columns);
    // x = V^T part, whose first columns are still those of the identity, and zero in the first rows of the others.
    const int64_t known = std::min(width, columns), below = m - k - width;
    copy_matrix_serial<T, T>(block.block(0, 0, known, width).transposed(), x.block(0, 0, width, known));
    gemm<T>(block.block(width, 0, below, width).transposed(), part.block(width, known, below, columns - known),
            x.block(0, known, width, columns - known));
    gemm<T>(t.block(0, k, width, width), x, y);
    subtract_product<T>(block, y, part);
  }
}

}  // namespace weft::kernels::cpu::linalg
