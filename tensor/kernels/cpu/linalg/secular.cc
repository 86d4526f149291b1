#include "tensor/kernels/cpu/linalg/secular.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/kernels/cpu/gemm/scratch_matrix.h"

namespace weft::kernels::cpu::linalg {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// rho sum z^2 / (pole - x) over some poles, and its derivative.
struct Sum {
  double value = 0, slope = 0;
};

/// How differences of poles are formed and moved. For eigenvalues the poles are given as they are.
struct Plain {
  static double difference(double pole, double other) { return pole - other; }
  static double moved(double pole, double shift) { return pole + shift; }
};
/// For singular values the equation is one of squares. What is given are the square roots of its poles, because small
/// values that differ may have the same square in floating point.
struct Rooted {
  static double difference(double pole, double other) { return (pole - other) * (pole + other); }
  /// The root of pole^2 + shift.
  static double moved(double pole, double shift) {
    const double root = std::sqrt(std::max(0.0, pole * pole + shift));
    return root == 0 ? 0 : pole + shift / (pole + root);
  }
};

template <class Poles> class Root {
 public:
  Root(const double* poles, const double* squares, double rho, int64_t count, int64_t index)
      : poles_(poles), squares_(squares), rho_(rho), count_(count), index_(index), last_(index == count - 1) {}

  /// The root between poles index and index + 1, or beyond the last pole. distances (count): pole j minus the root.
  /// `total` is the sum of the squares, which bounds the last root.
  double find(double total, double* distances) {
    const double gap = last_ ? rho_ * total : Poles::difference(poles_[index_ + 1], poles_[index_]);
    origin_ = poles_[index_];
    double shift = gap / 2, low = 0, high = gap;
    look_at(shift, distances);
    if (value_ >= 0) {
      high = shift;
    } else if (last_) {
      low = shift;
    } else {  // nearer to the upper pole: distances from there are exact
      origin_ = poles_[index_ + 1];
      shift = low = -gap / 2;
      high = 0;
      look_at(shift, distances);
    }
    for (int step = 0; step < 100; ++step) {
      if (std::abs(value_) <=
          kEpsilon * static_cast<double>(count_) * (1 + std::abs(below_.value) + std::abs(above_.value)))
        break;
      (value_ < 0 ? low : high) = shift;
      double next = shift + correction(distances);
      if (!(low < next && next < high)) next = low + (high - low) / 2;
      if (next == shift || high - low <= 2 * kEpsilon * std::max(std::abs(low), std::abs(high))) break;
      shift = next;
      look_at(shift, distances);
    }
    return Poles::moved(origin_, shift);
  }

 private:
  Sum sum(int64_t begin, int64_t end, const double* distances) const {
    double value = 0, slope = 0;
#pragma omp simd reduction(+ : value, slope)
    for (int64_t j = begin; j < end; ++j) {
      const double part = squares_[j] / distances[j];
      value += part;
      slope += part / distances[j];
    }
    return {rho_ * value, rho_ * slope};
  }
  void look_at(double shift, double* distances) {
    for (int64_t j = 0; j < count_; ++j) distances[j] = Poles::difference(poles_[j], origin_) - shift;
    const int64_t middle = last_ ? index_ : index_ + 1;
    below_ = sum(0, middle, distances);
    above_ = sum(middle, count_, distances);
    value_ = 1 + below_.value + above_.value;
  }
  /// The step to the root of c + s / (p - x) + t / (q - x), the function with poles p and q next to the root that has
  /// the value, and for each of the two sums the slope, of the equation at the present shift.
  double correction(const double* distances) const {
    if (count_ == 1) return distances[0] + rho_ * squares_[0];
    const int64_t i = last_ ? index_ - 1 : index_;
    const double p = distances[i], q = distances[i + 1];
    const double c = value_ - p * below_.slope - q * above_.slope;
    const double a = (p + q) * value_ - p * q * (below_.slope + above_.slope), b = p * q * value_;
    const double root = std::sqrt(std::abs(a * a - 4 * b * c));
    if (last_) return a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root);
    return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
  }

  const double *poles_, *squares_;
  double rho_;
  int64_t count_, index_;
  bool last_;
  double origin_ = 0, value_ = 0;
  Sum below_, above_;
};

/// The roots, and in distances (i, j) pole j minus root i.
template <class Poles>
void find_roots(const double* poles, const double* weights, double rho, double* values, Matrix<double> distances) {
  const int64_t k = distances.rows;
  Scratch<double> squares(k);
  double total = 0;
  for (int64_t j = 0; j < k; ++j) total += squares.data()[j] = weights[j] * weights[j];
  parallel_for(k, 1 + 4096 / k, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      values[i] = Root<Poles>(poles, squares.data(), rho, k, i).find(total, &distances.at(i, 0));
  });
}

/// The weights z for which the roots found are exact (Gu and Eisenstat 1994), with the signs of `weights`.
template <class Poles>
void exact_weights(const double* poles, const double* weights, Matrix<const double> distances, double* z) {
  const int64_t k = distances.rows;
  parallel_for(k, 1 + 32768 / k, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) z[j] = 1;
    for (int64_t i = 0; i < k; ++i) {
      const double* const row = &distances.at(i, 0);
      const double pole = poles[i];
      for (int64_t j = begin; j < std::min(i, end); ++j) z[j] *= row[j] / Poles::difference(poles[j], pole);
      if (i >= begin && i < end) z[i] *= row[i];
      for (int64_t j = std::max(i + 1, begin); j < end; ++j) z[j] *= row[j] / Poles::difference(poles[j], pole);
    }
    for (int64_t j = begin; j < end; ++j) z[j] = std::copysign(std::sqrt(std::abs(z[j])), weights[j]);
  });
}

/// f(i, row): row i of a matrix (k, k) is the vector of root i, of any length.
template <class Poles, class F>
void for_vectors(const double* poles, const double* weights, double rho, double* values, int64_t k, const F& f) {
  const ScratchMatrix<double> distances(k, k);
  const Scratch<double> exact(k);
  find_roots<Poles>(poles, weights, rho, values, distances);
  exact_weights<Poles>(poles, weights, distances, exact.data());
  parallel_for(k, 1 + 32768 / k, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double* const row = &distances.at(i, 0);
      for (int64_t j = 0; j < k; ++j) row[j] = exact.data()[j] / row[j];
      f(i, row);
    }
  });
}

/// Element j of x, divided by the length of x, goes to out[place[j]].
template <class T> void put_unit_vector(const double* x, const int64_t* place, T* out, int64_t n) {
  double length = 0;
#pragma omp simd reduction(+ : length)
  for (int64_t j = 0; j < n; ++j) length += x[j] * x[j];
  const double scale = 1 / std::sqrt(length);
  for (int64_t j = 0; j < n; ++j) out[place[j]] = static_cast<T>(scale * x[j]);
}

}  // namespace

template <class T>
void secular_vectors(const double* poles, const double* weights, double rho, const int64_t* place, double* values,
                     Matrix<T> vectors) {
  const int64_t k = vectors.rows;
  for_vectors<Plain>(poles, weights, rho, values, k,
                     [&](int64_t i, const double* row) { put_unit_vector(row, place, &vectors.at(i, 0), k); });
}

template void secular_vectors(const double*, const double*, double, const int64_t*, double*, Matrix<float>);
template void secular_vectors(const double*, const double*, double, const int64_t*, double*, Matrix<double>);

void secular_singular_vectors(const double* poles, const double* weights, const int64_t* place, double* values,
                              Matrix<double> left, Matrix<double> right) {
  const int64_t k = right.rows;
  for_vectors<Rooted>(poles, weights, 1, values, k, [&](int64_t i, double* row) {
    put_unit_vector(row, place, &right.at(i, 0), k);
    if (left.rows == 0) return;
    row[0] = -1;
    for (int64_t j = 1; j < k; ++j) row[j] *= poles[j];
    put_unit_vector(row, place, &left.at(i, 0), k);
  });
}

}  // namespace weft::kernels::cpu::linalg
