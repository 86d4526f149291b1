#include "tensor/kernels/cpu/linalg/bidiagonal_svd.h"

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
/// Matrices up to this size are not divided.
constexpr int64_t kUndivided = 32;

/// The smaller singular value of ((f, g), (0, h)), or 0 where squares vanish.
double smaller_singular_value(double f, double g, double h) {
  const double a = std::sqrt((f + h) * (f + h) + g * g), b = std::sqrt((f - h) * (f - h) + g * g), larger = (a + b) / 2;
  return larger == 0 ? 0 : std::abs(f / larger * h);
}

/// One step of implicit QR on rows l .. m (Golub and Kahan 1965; where the shift is 0, Demmel and Kahan 1990).
/// turn_right(i, c, s) and turn_left are told how vectors i and i + 1 are turned.
template <class Right, class Left>
void qr_step(double* d, double* e, int64_t l, int64_t m, double shift, const Right& turn_right, const Left& turn_left) {
  if (shift == 0) {
    double c = 1, before_c = 1, before_s = 0;
    for (int64_t i = l; i < m; ++i) {
      const Rotation right = rotation(d[i] * c, e[i]);
      if (i > l) e[i - 1] = before_s * right.length;
      const Rotation left = rotation(before_c * right.length, d[i + 1] * right.s);
      d[i] = left.length;
      c = right.c, before_c = left.c, before_s = left.s;
      turn_right(i, right.c, right.s);
      turn_left(i, left.c, left.s);
    }
    const double last = d[m] * c;
    d[m] = last * before_c;
    e[m - 1] = last * before_s;
    return;
  }
  double f = (std::abs(d[l]) - shift) * (std::copysign(1.0, d[l]) + shift / d[l]), g = e[l];
  for (int64_t i = l; i < m; ++i) {
    const Rotation right = rotation(f, g);
    if (i > l) e[i - 1] = right.length;
    f = right.c * d[i] + right.s * e[i];
    e[i] = right.c * e[i] - right.s * d[i];
    g = right.s * d[i + 1];
    d[i + 1] *= right.c;
    turn_right(i, right.c, right.s);
    const Rotation left = rotation(f, g);
    d[i] = left.length;
    f = left.c * e[i] + left.s * d[i + 1];
    d[i + 1] = left.c * d[i + 1] - left.s * e[i];
    if (i + 1 < m) {
      g = left.s * e[i + 1];
      e[i + 1] *= left.c;
    }
    turn_left(i, left.c, left.s);
  }
  e[m - 1] = f;
}

/// d becomes the singular values, of any sign, by QR steps. They end when every element above the diagonal is
/// negligible: compared with the elements next to it, or with `norm`, the largest element, or not above `floor`.
/// (A part of a matrix may be so small that its largest element times epsilon is 0. Without `floor`, the steps on its
/// denormal numbers would never end.)
template <class Right, class Left>
void qr(double* d, double* e, int64_t n, double norm, double floor, const Right& turn_right, const Left& turn_left) {
  const auto vanished = [&](int64_t i) {
    return std::abs(e[i]) <= std::max(kEpsilon * std::max(std::abs(d[i]) + std::abs(d[i + 1]), norm / 8), floor);
  };
  for (int64_t m = n - 1; m > 0;) {
    if (vanished(m - 1)) {
      --m;
      continue;
    }
    int64_t l = m - 1;
    double least = std::min(std::abs(d[m]), std::abs(d[l]));
    for (; l > 0 && !vanished(l - 1); --l) least = std::min(least, std::abs(d[l - 1]));
    // A singular matrix is split by a step without a shift.
    const double shift = least <= kEpsilon * norm ? 0 : smaller_singular_value(d[m - 1], e[m - 1], d[m]);
    qr_step(d, e, l, m, shift, turn_right, turn_left);
  }
}

double largest_of(const double* d, const double* e, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max({largest, std::abs(d[i]), std::abs(e[i])});
  return largest;
}

/// The threshold below which elements are negligible; `norm` is the largest element of the whole matrix.
double negligible(double norm) { return kEpsilon / 1024 * norm; }

/// Two rows of vectors, turned as rotation() says.
void turn(Matrix<double> rows, int64_t i, int64_t j, double c, double s) {
  turn_rows(&rows.at(i, 0), &rows.at(j, 0), rows.columns, c, s);
}

/// The singular values of B (n, n), or (n, n + 1) if its last row has an element beyond the diagonal, and the
/// vectors in rows: `left` (n, n), and `right` (n or n + 1, all), whose last row is then the vector that B maps to
/// 0. If `left` has no rows, only the values are wanted: of the right vectors the first and the last column are
/// computed, which is what a merge of two parts reads.
class Division {
 public:
  Division(double* d, double* e, Matrix<double> left, Matrix<double> right) : d_(d), e_(e), left_(left), right_(right) {
    const int64_t n = right.rows;
    e[n - 1] = 0;
    const double norm = largest_of(d, e, n);
    floor_ = negligible(norm);
    norm == 0 ? solve_undivided(0, n, 0) : solve(0, n, 0);
  }

 private:
  /// Rows [begin, begin + n); `more`: 1 where there is one more column.
  void solve(int64_t begin, int64_t n, int64_t more) {
    if (n <= kUndivided) return solve_undivided(begin, n, more);
    const int64_t first = (n - 1) / 2;
    solve(begin, first, 1);
    solve(begin + first + 1, n - first - 1, more);
    Join(*this, begin, n, more, begin + first);
  }

  bool edges() const { return left_.rows == 0; }
  Matrix<double> left_of(int64_t begin, int64_t n) const {
    return left_.rows == 0 ? left_ : left_.block(begin, begin, n, n);
  }
  Matrix<double> right_of(int64_t begin, int64_t n) const {
    return edges() ? right_.block(begin, 0, n, 2) : right_.block(begin, begin, n, n);
  }

  void solve_undivided(int64_t begin, int64_t n, int64_t more) {
    const Matrix<double> left = left_of(begin, n), right = right_of(begin, n + more);
    double *const d = d_ + begin, *const e = e_ + begin;
    for (int64_t i = 0; i < left.rows; ++i) left.at(i, i) = 1;
    if (edges())
      right.at(0, 0) = 1, right.at(n + more - 1, 1) = 1;
    else
      for (int64_t i = 0; i < n + more; ++i) right.at(i, i) = 1;
    const double norm = largest_of(d, e, n);
    double beyond = more != 0 ? e[n - 1] : 0;  // the element in the last column, brought up row by row
    for (int64_t i = n; more != 0 && i-- > 0;) {
      const Rotation r = rotation(d[i], beyond);
      d[i] = r.length;
      turn(right, i, n, r.c, r.s);
      if (i > 0) beyond = -r.s * e[i - 1], e[i - 1] *= r.c;
    }
    qr(
        d, e, n, norm, floor_, [&](int64_t i, double c, double s) { turn(right, i, i + 1, c, s); },
        [&](int64_t i, double c, double s) {
          if (left.rows != 0) turn(left, i, i + 1, c, s);
        });
    for (int64_t i = 0; i < n; ++i)
      if (std::signbit(d[i])) {
        d[i] = -d[i];
        for (int64_t j = 0; j < right.columns; ++j) right.at(i, j) = -right.at(i, j);
      }
    put_in_order(left, right.block(0, 0, n, right.columns), d, ascending(d, n));
  }

  /// Rows and values in another order.
  static void put_in_order(Matrix<double> left, Matrix<double> right, double* d, const std::vector<int64_t>& order) {
    const int64_t n = right.rows;
    const auto arrange = [&](Matrix<double> rows) {
      const ScratchMatrix<double> arranged(n, rows.columns);
      copy_rows<double>(rows, order, arranged);
      copy_matrix<double, double>(arranged, rows);
    };
    if (left.rows != 0) arrange(left);
    arrange(right);
    const std::vector<double> given(d, d + n);
    for (int64_t i = 0; i < n; ++i) d[i] = given[static_cast<size_t>(order[static_cast<size_t>(i)])];
  }

  /// Two solved parts and the row between them, `middle`, become one. In their vectors the row is z, the others are
  /// diagonal; the middle value is 0, its left vector a unit vector, its right one what the parts map to 0.
  class Join {
   public:
    Join(Division& whole, int64_t begin, int64_t n, int64_t more, int64_t middle)
        : n_(n),
          middle_(middle - begin),
          d_(whole.d_ + begin),
          left_(whole.left_of(begin, n)),
          right_(whole.right_of(begin, n + more)),
          z_(n + more),
          kinds_(static_cast<size_t>(n)),
          floor_(whole.floor_) {
      const bool edges = whole.edges();
      split_ = edges ? 1 : middle_ + 1;
      set_row(whole.d_[middle], whole.e_[middle], edges);
      if (left_.rows != 0) left_.at(middle_, middle_) = 1;
      join_empty(more);
      d_[middle_] = 0;
      deflate();
      const int64_t k = std::ssize(kept_);
      std::vector<double> values(static_cast<size_t>(n_));
      combine(values.data());
      for (int64_t i = k; i < n_; ++i) values[static_cast<size_t>(i)] = d_[deflated_[static_cast<size_t>(i - k)]];
      std::copy(values.begin(), values.end(), d_);
      put_in_order(left_, right_.block(0, 0, n_, right_.columns), d_, ascending(d_, n_));
    }

   private:
    /// z from the right vectors' columns next to the joint. If only the first and last columns are known (`edges`), the
    /// elements that are not on an edge of the whole matrix are cleared.
    void set_row(double alpha, double beta, bool edges) {
      double* const z = z_.data();
      for (int64_t i = 0; i < right_.rows; ++i) {
        const bool first = i <= middle_;
        double& beside = right_.at(i, edges ? (first ? 1 : 0) : (first ? middle_ : middle_ + 1));
        z[i] = (first ? alpha : beta) * beside;
        if (edges) beside = 0;
        if (i < n_) kinds_[static_cast<size_t>(i)] = first ? Half::kFirst : Half::kSecond;
      }
    }
    /// Of two vectors that the parts map to 0, one that the row maps to 0 as well becomes the last.
    void join_empty(int64_t more) {
      if (more == 0) return;
      double* const z = z_.data();
      const Rotation r = rotation(z[middle_], z[n_]);
      turn(right_, middle_, n_, r.c, r.s);
      z[middle_] = r.length;
      kinds_[static_cast<size_t>(middle_)] = Half::kBoth;
    }

    /// Deflation: removes vectors whose element of z is negligible, and after a rotation one of each pair with close
    /// values.
    void deflate() {
      double* const z = z_.data();
      limit_ = std::max(4 * kEpsilon * largest_of(d_, z, n_), floor_);
      if (std::abs(z[middle_]) <= limit_) z[middle_] = limit_;
      kept_.push_back(middle_);
      int64_t last = -1;
      for (const int64_t i : ascending(d_, n_)) {
        if (i == middle_) continue;
        if (std::abs(z[i]) <= limit_) {
          deflated_.push_back(i);
          continue;
        }
        if (last >= 0) {
          if (d_[i] - d_[last] <= limit_)
            turn_pair(last, i), deflated_.push_back(last);
          else
            kept_.push_back(last);
        }
        last = i;
      }
      if (last >= 0) kept_.push_back(last);
    }
    void turn_pair(int64_t i, int64_t j) {
      double* const z = z_.data();
      const Rotation r = rotation(z[j], z[i]);
      if (left_.rows != 0) turn(left_, j, i, r.c, r.s);
      turn(right_, j, i, r.c, r.s);
      z[i] = 0;
      z[j] = r.length;
      Half& kind = kinds_[static_cast<size_t>(j)];
      if (kinds_[static_cast<size_t>(i)] != kind) kind = kinds_[static_cast<size_t>(i)] = Half::kBoth;
    }

    /// The vectors that are kept, combined, come first, behind them those that are not.
    void combine(double* values) {
      const int64_t k = std::ssize(kept_);
      std::vector<double> poles, weights;
      for (const int64_t i : kept_) poles.push_back(d_[i]), weights.push_back(z_.data()[i]);
      poles[0] = 0;
      if (k > 1) poles[1] = std::max(poles[1], limit_ / 2);
      const MixingOrder order(kept_, kinds_);
      const bool both = left_.rows != 0;
      const ScratchMatrix<double> right(k, k), left(both ? k : 0, k);
      secular_singular_vectors(poles.data(), weights.data(), order.place(), values, left, right);
      const auto mix = [&](Matrix<const double> factors, Matrix<double> rows) {
        const ScratchMatrix<double> mixed(n_, rows.columns);
        order.mix_rows<double>(factors, rows, split_, mixed.block(0, 0, k, rows.columns));
        copy_rows(rows, deflated_, mixed.block(k, 0, n_ - k, rows.columns));
        copy_matrix<double, double>(mixed, rows);
      };
      if (both) mix(left, left_);
      mix(right, right_.block(0, 0, n_, right_.columns));
    }

    int64_t n_, middle_, split_ = 0;
    double* d_;
    Matrix<double> left_, right_;
    Scratch<double> z_;
    std::vector<Half> kinds_;
    double floor_, limit_ = 0;
    std::vector<int64_t> kept_, deflated_;
  };

  double *d_, *e_;
  Matrix<double> left_, right_;
  double floor_;  // what is below it vanishes beside the largest element of all parts
};

}  // namespace

void bidiagonal_values(double* d, double* e, int64_t n) {
  if (n <= kUndivided) {
    const auto no_vectors = [](int64_t, double, double) {};
    e[n - 1] = 0;
    const double norm = largest_of(d, e, n);
    qr(d, e, n, norm, negligible(norm), no_vectors, no_vectors);
    for (int64_t i = 0; i < n; ++i) d[i] = std::abs(d[i]);
    return std::sort(d, d + n);
  }
  const ScratchMatrix<double> ends(n, 2);
  std::fill_n(ends.data, 2 * n, 0.0);
  Division(d, e, Matrix<double>{}, ends);
}

void bidiagonal_vectors(double* d, double* e, Matrix<double> left, Matrix<double> right) {
  const int64_t n = left.rows;
  for (int64_t i = 0; i < n; ++i) {
    std::fill_n(&left.at(i, 0), n, 0.0);
    std::fill_n(&right.at(i, 0), n, 0.0);
  }
  Division(d, e, left, right);
}

}  // namespace weft::kernels::cpu::linalg
