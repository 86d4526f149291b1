#include "tensor/functions/window.h"

#include <cmath>
#include <numbers>

#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/ops/infer.h"

namespace weft {
namespace {

constexpr double kPi = std::numbers::pi;

/// value(i / n) for i = 0 .. count - 1, where n is the last index of the symmetric window.
template <class F> Tensor window(int64_t count, bool periodic, DType dtype, const F& value) {
  if (!is_floating(dtype)) throw DtypeError(text(dtype, " is not accepted here; it takes floating dtypes"));
  if (count < 0) throw ShapeError(text("a window of ", count, " weights"));
  const double last = static_cast<double>(periodic ? count : count - 1);
  const Tensor weights = ones({count}, f64);
  double* const to = weights.data<double>();
  for (int64_t i = 0; i < count && count > 1; ++i) to[i] = value(static_cast<double>(i) / last);
  return cast(weights, dtype);
}

}  // namespace

Tensor hann_window(int64_t count, bool periodic, DType dtype) {
  ErrorFrame frame("hann_window");
  return window(count, periodic, dtype, [](double t) { return std::sin(kPi * t) * std::sin(kPi * t); });
}

Tensor hamming_window(int64_t count, bool periodic, double alpha, double beta, DType dtype) {
  ErrorFrame frame("hamming_window");
  return window(count, periodic, dtype, [=](double t) { return alpha - beta * std::cos(2 * kPi * t); });
}

Tensor blackman_window(int64_t count, bool periodic, DType dtype) {
  ErrorFrame frame("blackman_window");
  return window(count, periodic, dtype,
                [](double t) { return 0.42 - 0.5 * std::cos(2 * kPi * t) + 0.08 * std::cos(4 * kPi * t); });
}

Tensor bartlett_window(int64_t count, bool periodic, DType dtype) {
  ErrorFrame frame("bartlett_window");
  return window(count, periodic, dtype, [](double t) { return 1 - std::fabs(2 * t - 1); });
}

Tensor kaiser_window(int64_t count, bool periodic, double beta, DType dtype) {
  ErrorFrame frame("kaiser_window");
  if (!(std::fabs(beta) <= 700)) throw Error(text("beta = ", beta, " must lie between -700 and 700"));
  return window(count, periodic, dtype, [scale = std::cyl_bessel_i(0, std::fabs(beta)), beta](double t) {
    return std::cyl_bessel_i(0, std::fabs(beta) * std::sqrt(std::fmax(0, 1 - (2 * t - 1) * (2 * t - 1)))) / scale;
  });
}

}  // namespace weft
