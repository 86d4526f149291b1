#include "metrics/regression.h"

#include <cmath>
#include <limits>

#include "tensor/all.h"

namespace weft::metrics {
namespace {

/// predictions - targets in f64, on the CPU.
Tensor errors_of(const Tensor& predictions, const Tensor& targets) {
  if (predictions.shape() != targets.shape())
    throw ShapeError(
        text("predictions and targets have one shape, not ", predictions.shape(), " and ", targets.shape()));
  return predictions.detach().cpu().to(f64) - targets.detach().cpu().to(f64);
}

/// 1 - part / all for each output. Where `all` is 0: 1 if `part` is 0 too, else 0.
Tensor one_minus(const Tensor& part, const Tensor& all) {
  if (!all.defined()) return zeros({0}, f64);
  const Tensor constant = all == 0;
  return where(constant, (part == 0).to(f64), 1.0 - part / where(constant, ones_like(all), all));
}

double mean_of(const Tensor& of_outputs, int64_t rows) {
  return rows < 2 ? std::numeric_limits<double>::quiet_NaN() : mean(of_outputs).item<double>();
}

}  // namespace

void MeanAbsoluteError::update(const Tensor& predictions, const Tensor& targets) {
  ErrorFrame frame("MeanAbsoluteError", predictions, targets);
  mean_.update(abs(errors_of(predictions, targets)));
}

void MeanSquaredError::update(const Tensor& predictions, const Tensor& targets) {
  ErrorFrame frame("MeanSquaredError", predictions, targets);
  mean_.update(square(errors_of(predictions, targets)));
}

double MeanSquaredError::root() const { return std::sqrt(value()); }

/// These moments together with those of `rows`, (n, outputs) with n > 0 (Chan, Golub and LeVeque, Stanford report
/// STAN-CS-79-773). Differences from the first row keep the spread of equal rows at exactly 0.
OutputVariances::Moments OutputVariances::Moments::with(const Tensor& rows) const {
  const int64_t n = rows.size(0);
  const Tensor first = rows[0], offset = weft::mean(rows - first, 0), own_mean = first + offset;
  const Tensor own_spread = sum(square(rows - first - offset), 0);
  if (count == 0) return {n, own_mean, own_spread};
  const Tensor shift = own_mean - mean;
  const double part = static_cast<double>(n) / static_cast<double>(count + n);
  return {count + n, mean + shift * part, spread + own_spread + square(shift) * (part * static_cast<double>(count))};
}

void OutputVariances::update(const Tensor& predictions, const Tensor& targets) {
  ErrorFrame frame(name_, predictions, targets);
  Tensor errors = errors_of(predictions, targets), rows = targets.detach().cpu().to(f64);
  if (rows.rank() != 1 && rows.rank() != 2)
    throw ShapeError(text("predictions and targets are (n) or (n, outputs), not ", targets.shape()));
  if (rows.rank() == 1) errors = unsqueeze(errors, 1), rows = unsqueeze(rows, 1);
  if (rows.size(1) == 0) throw ShapeError("there are 0 outputs");
  if (count() > 0 && rows.size(1) != targets_.mean.size(0))
    throw ShapeError(text("there are ", rows.size(1), " outputs, and were ", targets_.mean.size(0), " before"));
  if (rows.size(0) == 0) return;
  Moments of_targets = targets_.with(rows), of_errors = errors_.with(errors);
  targets_ = std::move(of_targets);
  errors_ = std::move(of_errors);
}

void OutputVariances::reset() { targets_ = errors_ = Moments(); }

Tensor OutputVariances::squares_of_errors() const {
  if (count() == 0) return Tensor();
  return errors_.spread + square(errors_.mean) * static_cast<double>(count());
}

double R2::value() const { return mean_of(of_outputs(), count()); }
Tensor R2::of_outputs() const { return one_minus(squares_of_errors(), spread_of_targets()); }

double ExplainedVariance::value() const { return mean_of(of_outputs(), count()); }
Tensor ExplainedVariance::of_outputs() const { return one_minus(spread_of_errors(), spread_of_targets()); }

}  // namespace weft::metrics
