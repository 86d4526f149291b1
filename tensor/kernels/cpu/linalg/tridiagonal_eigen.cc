#include "tensor/kernels/cpu/linalg/tridiagonal_eigen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tensor/kernels/cpu/gemm/scratch_matrix.h"
#include "tensor/kernels/cpu/linalg/mixing.h"
#include "tensor/kernels/cpu/linalg/rotation.h"
#include "tensor/kernels/cpu/linalg/secular.h"

namespace weft::kernels::cpu::linalg {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
/// The cosine of a rotation that counts as 0, whose inverse is still a number.
constexpr double kVanished = 1e-280;
/// Matrices up to this size are not divided.
constexpr int64_t kUndivided = 32;
/// Negligible compared with a largest element near 1: steps on denormal numbers might never end.
constexpr double kNegligible = 1e-290;

/// The first place from `l` on where the matrix splits into two.
int64_t split_from(const double* d, const double* e, int64_t l, int64_t n) {
  for (; l + 1 < n; ++l)
    if (std::abs(e[l]) <= std::max(kEpsilon * (std::abs(d[l]) + std::abs(d[l + 1])), kNegligible)) return l;
  return n - 1;
}

/// One QL step on rows l .. m; rotate(i, c, s) is told how rows i and i + 1 are turned.
template <class F> void ql_step(double* d, double* e, int64_t l, int64_t m, const F& rotate) {
  const double half = (d[l + 1] - d[l]) / (2 * e[l]), length = std::sqrt(half * half + 1);
  double g = d[m] - d[l] + e[l] / (half + std::copysign(length, half));
  double s = 1, c = 1, p = 0;
  for (int64_t i = m - 1; i >= l; --i) {
    const double b = c * e[i];
    const Rotation r = rotation(g, s * e[i]);
    e[i + 1] = r.length;
    if (r.length == 0) {  // the matrix splits here
      d[i + 1] -= p;
      e[m] = 0;
      return;
    }
    s = r.s;
    c = r.c;
    g = d[i + 1] - p;
    const double turned = (d[i] - g) * s + 2 * c * b;
    p = s * turned;
    d[i + 1] = g + p;
    g = c * turned - b;
    rotate(i, c, s);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

template <class F> void ql(double* d, double* e, int64_t n, const F& rotate) {
  if (n > 0) e[n - 1] = 0;
  for (int64_t l = 0; l < n; ++l)
    for (int64_t m; (m = split_from(d, e, l, n)) != l;) ql_step(d, e, l, m, rotate);
}

/// One QL step without square roots (Pal, Walker and Kahan; Reinsch 1973) on rows l .. m; e holds squares.
void root_free_step(double* d, double* e, int64_t l, int64_t m) {
  const double beside = std::sqrt(e[l]), half = (d[l + 1] - d[l]) / (2 * beside);
  const double shift = d[l] - beside / (half + std::copysign(std::sqrt(half * half + 1), half));
  double c = 1, s = 0, g = d[m] - shift, p = g * g;
  for (int64_t i = m - 1; i >= l; --i) {
    const double square = e[i], r = p + square, before = c;
    const double inverse = r / p;  // beside p / r: neither division waits for the other
    if (i != m - 1) e[i + 1] = s * r;
    c = p / r;
    s = square / r;
    const double last = g;
    g = c * (d[i] - shift) - s * last;
    d[i + 1] = last + (d[i] - g);
    p = c > kVanished ? g * g * inverse : before * square;
  }
  e[l] = s * p;
  d[l] = shift + g;
}

/// A matrix that is not divided; `q` is a block of zeros.
template <class T> void solve_undivided(double* d, double* e, Matrix<T> q) {
  const int64_t n = q.rows;
  double rows[kUndivided][kUndivided] = {}, values[kUndivided];
  for (int64_t i = 0; i < n; ++i) rows[i][i] = 1;
  ql(d, e, n, [&](int64_t i, double c, double s) {
    double *const x = rows[i], *const y = rows[i + 1];
    for (int64_t k = 0; k < n; ++k) {
      const double f = y[k];
      y[k] = s * x[k] + c * f;
      x[k] = c * x[k] - s * f;
    }
  });
  const std::vector<int64_t> order = ascending(d, n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = order[static_cast<size_t>(i)];
    values[i] = d[from];
    for (int64_t k = 0; k < n; ++k) q.at(i, k) = static_cast<T>(rows[from][k]);
  }
  std::copy_n(values, n, d);
}

/// Two solved halves become one: diag(d) + rho z z^T in their vectors, the rows of q.
template <class T> class Merge {
 public:
  /// The first half has `m` rows; `beside` is the element of the matrix that joins them.
  Merge(double* d, Matrix<T> q, int64_t m, double beside)
      : n_(q.rows), m_(m), rho_(2 * std::abs(beside)), d_(d), q_(q), z_(n_), kinds_(static_cast<size_t>(n_)) {
    const double scale = std::sqrt(0.5), sign = beside < 0 ? -scale : scale;
    for (int64_t i = 0; i < n_; ++i) {
      z_.data()[i] = i < m ? scale * q.at(i, m - 1) : sign * q.at(i, m);
      kinds_[static_cast<size_t>(i)] = i < m ? Half::kFirst : Half::kSecond;
    }
    deflate();
    const int64_t k = std::ssize(kept_);
    const ScratchMatrix<T> rows(n_, n_);
    std::vector<double> values(static_cast<size_t>(n_));
    if (k > 0) combine(rows, values.data());
    for (int64_t i = k; i < n_; ++i) {
      const int64_t from = deflated_[static_cast<size_t>(i - k)];
      values[static_cast<size_t>(i)] = d_[from];
      std::copy_n(&q_.at(from, 0), n_, &rows.at(i, 0));
    }
    const std::vector<int64_t> order = ascending(values.data(), n_);
    copy_rows<T>(rows, order, q_);
    for (int64_t i = 0; i < n_; ++i) d_[i] = values[static_cast<size_t>(order[static_cast<size_t>(i)])];
  }

 private:
  /// Deflation: removes vectors whose element of z is negligible, and after a rotation one of each pair with close
  /// values.
  void deflate() {
    double largest = 0;
    for (int64_t i = 0; i < n_; ++i) largest = std::max({largest, std::abs(d_[i]), std::abs(z_.data()[i])});
    const double limit = 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest;
    double* const z = z_.data();
    int64_t last = -1;
    for (const int64_t i : ascending(d_, n_)) {
      if (rho_ * std::abs(z[i]) <= limit) {
        deflated_.push_back(i);
        continue;
      }
      if (last >= 0) {
        const double length = std::hypot(z[i], z[last]), c = z[i] / length, s = -z[last] / length;
        if (std::abs((d_[i] - d_[last]) * c * s) <= limit)
          turn(last, i, c, s, length), deflated_.push_back(last);
        else
          kept_.push_back(last);
      }
      last = i;
    }
    if (last >= 0) kept_.push_back(last);
  }
  void turn(int64_t i, int64_t j, double c, double s, double length) {
    turn_rows(&q_.at(i, 0), &q_.at(j, 0), n_, static_cast<T>(c), static_cast<T>(s));
    const double di = d_[i], dj = d_[j];
    d_[i] = di * c * c + dj * s * s;
    d_[j] = di * s * s + dj * c * c;
    z_.data()[i] = 0;
    z_.data()[j] = length;
    Half& kind = kinds_[static_cast<size_t>(j)];
    if (kinds_[static_cast<size_t>(i)] != kind) kind = kinds_[static_cast<size_t>(i)] = Half::kBoth;
  }

  /// The vectors that are kept, combined: the first rows of `rows`.
  void combine(Matrix<T> rows, double* values) {
    const int64_t k = std::ssize(kept_);
    std::vector<double> poles, weights;
    for (const int64_t i : kept_) poles.push_back(d_[i]), weights.push_back(z_.data()[i]);
    const MixingOrder order(kept_, kinds_);
    const ScratchMatrix<T> mix(k, k);
    secular_vectors<T>(poles.data(), weights.data(), rho_, order.place(), values, mix);
    order.mix_rows<T>(mix, q_, m_, rows.block(0, 0, k, n_));
  }

  int64_t n_, m_;
  double rho_;
  double* d_;
  Matrix<T> q_;
  Scratch<double> z_;
  std::vector<Half> kinds_;
  std::vector<int64_t> kept_, deflated_;
};

}  // namespace

void tridiagonal_values(double* d, double* e, int64_t n) {
  for (int64_t i = 0; i + 1 < n; ++i) e[i] *= e[i];
  const auto split = [&](int64_t l) {
    for (; l + 1 < n; ++l) {
      const double small = kEpsilon * (std::abs(d[l]) + std::abs(d[l + 1]));
      if (e[l] <= std::max(small * small, kNegligible)) break;
    }
    return l;
  };
  for (int64_t l = 0; l < n; ++l)
    for (int64_t m; (m = split(l)) != l;) root_free_step(d, e, l, m);
  std::sort(d, d + n);
}

template <class T> void tridiagonal_vectors(double* d, double* e, Matrix<T> vectors) {
  const int64_t n = vectors.rows;
  int64_t parts = 1;
  while (n / parts > kUndivided - 1) parts *= 2;
  for (int64_t i = 0; i < n; ++i) std::fill_n(&vectors.at(i, 0), n, T{0});
  const auto begin_of = [n](int64_t part, int64_t of) { return n * part / of; };
  for (int64_t part = 1; part < parts; ++part) {
    const int64_t i = begin_of(part, parts);
    d[i - 1] -= std::abs(e[i - 1]);
    d[i] -= std::abs(e[i - 1]);
  }
  Scratch<double> joints(parts + 1);  // QL steps overwrite e
  for (int64_t part = 1; part < parts; ++part) joints.data()[part] = e[begin_of(part, parts) - 1];
  const auto each = [&](int64_t of, const auto& f) {
    const auto one = [&](int64_t part) {
      const int64_t i = begin_of(part, of), size = begin_of(part + 1, of) - i;
      f(part, i, vectors.block(i, i, size, size));
    };
    if (of < region_threads()) {  // each with all threads
      for (int64_t part = 0; part < of; ++part) one(part);
      return;
    }
    parallel_for(of, 1, [&](int64_t part, int64_t end) {
      for (; part < end; ++part) one(part);
    });
  };
  each(parts, [&](int64_t, int64_t i, Matrix<T> q) { solve_undivided<T>(d + i, e + i, q); });
  for (int64_t of = parts / 2; of > 0; of /= 2)
    each(of, [&](int64_t part, int64_t i, Matrix<T> q) {
      const int64_t middle = begin_of(2 * part + 1, 2 * of);
      Merge<T>(d + i, q, middle - i, joints.data()[(2 * part + 1) * (parts / (2 * of))]);
    });
}

template void tridiagonal_vectors(double*, double*, Matrix<float>);
template void tridiagonal_vectors(double*, double*, Matrix<double>);

}  // namespace weft::kernels::cpu::linalg
