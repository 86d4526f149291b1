#include "tensor/kernels/cpu/linalg/secular.h"

#include <cmath>
#include <limits>

#include "tensor/kernels/cpu/base/scratch.h"

namespace weft::kernels::cpu::linalg {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// rho sum z^2 / (pole - x) over some poles, and its derivative.
struct Sum {
  double value = 0, slope = 0;
};

class Root {
 public:
  Root(const double* poles, const double* squares, double rho, int64_t count, int64_t index)
      : poles_(poles), squares_(squares), rho_(rho), count_(count), index_(index), last_(index == count - 1) {}

  /// The root between poles index and index + 1, or beyond the last one; `distances` (count) are those from it to the
  /// poles.
  double find(double total, double* distances) {
    const double gap = last_ ? rho_ * total : poles_[index_ + 1] - poles_[index_];
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
    return origin_ + shift;
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
    for (int64_t j = 0; j < count_; ++j) distances[j] = poles_[j] - origin_ - shift;
    const int64_t middle = last_ ? index_ : index_ + 1;
    below_ = sum(0, middle, distances);
    above_ = sum(middle, count_, distances);
    value_ = 1 + below_.value + above_.value;
  }
  /// The way to the root of c + s / (p - x) + t / (q - x), which has value and slopes of both sums at the two poles p
  /// and q next to it.
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

/// z for which the roots are exact, of the signs of `weights`: distances (i, j) are those from root i to pole j.
void exact_weights(const double* poles, const double* weights, Matrix<const double> distances, double* z) {
  const int64_t k = distances.rows;
  parallel_for(k, 1 + 32768 / k, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) z[j] = 1;
    for (int64_t i = 0; i < k; ++i) {
      const double* const row = &distances.at(i, 0);
      const double pole = poles[i];
      for (int64_t j = begin; j < std::min(i, end); ++j) z[j] *= row[j] / (poles[j] - pole);
      if (i >= begin && i < end) z[i] *= row[i];
      for (int64_t j = std::max(i + 1, begin); j < end; ++j) z[j] *= row[j] / (poles[j] - pole);
    }
    for (int64_t j = begin; j < end; ++j) z[j] = std::copysign(std::sqrt(std::abs(z[j])), weights[j]);
  });
}

}  // namespace

template <class T>
void secular_vectors(const double* poles, const double* weights, double rho, const int64_t* place, double* values,
                     Matrix<T> vectors) {
  const int64_t k = vectors.rows;
  Scratch<double> room(checked_multiply(k, k)), squares(k), exact(k);
  const Matrix<double> distances = row_major(room.data(), k, k);
  double total = 0;
  for (int64_t j = 0; j < k; ++j) total += squares.data()[j] = weights[j] * weights[j];
  parallel_for(k, 1 + 4096 / k, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      values[i] = Root(poles, squares.data(), rho, k, i).find(total, &distances.at(i, 0));
  });
  exact_weights(poles, weights, distances, exact.data());
  parallel_for(k, 1 + 32768 / k, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double* const row = &distances.at(i, 0);
      double length = 0;
#pragma omp simd reduction(+ : length)
      for (int64_t j = 0; j < k; ++j) {
        row[j] = exact.data()[j] / row[j];
        length += row[j] * row[j];
      }
      const double scale = 1 / std::sqrt(length);
      for (int64_t j = 0; j < k; ++j) vectors.at(i, place[j]) = static_cast<T>(scale * row[j]);
    }
  });
}

template void secular_vectors(const double*, const double*, double, const int64_t*, double*, Matrix<float>);
template void secular_vectors(const double*, const double*, double, const int64_t*, double*, Matrix<double>);

}  // namespace weft::kernels::cpu::linalg
