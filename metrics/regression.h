// How far predictions of numbers are from their targets: mean absolute and squared error, R2, explained variance.
#pragma once

#include "metrics/mean.h"
#include "tensor/tensor.h"

namespace weft::metrics {

/// The mean of |prediction - target| over all elements of all batches, computed in f64. NaN if nothing was counted.
class MeanAbsoluteError {
 public:
  /// Adds a batch: predictions and targets of the same shape, which may be any, of real dtypes. ShapeError otherwise.
  void update(const Tensor& predictions, const Tensor& targets);
  double value() const { return mean_.value(); }
  int64_t count() const { return static_cast<int64_t>(mean_.weight()); }
  void reset() { mean_.reset(); }

 private:
  Mean mean_;
};

/// The mean of (prediction - target)^2 over all elements of all batches, computed in f64. NaN if nothing was counted.
class MeanSquaredError {
 public:
  /// Adds a batch: predictions and targets of the same shape, which may be any, of real dtypes. ShapeError otherwise.
  void update(const Tensor& predictions, const Tensor& targets);
  double value() const { return mean_.value(); }
  /// The root of value(), in the unit of the targets.
  double root() const;
  int64_t count() const { return static_cast<int64_t>(mean_.weight()); }
  void reset() { mean_.reset(); }

 private:
  Mean mean_;
};

/// What is computed from the mean and the variance of targets and of errors, of each output.
class OutputVariances {
 public:
  /// Adds a batch: predictions and targets, both (n) or both (n, outputs), of real dtypes. ShapeError otherwise, or if
  /// the number of outputs is not that of the batches before.
  void update(const Tensor& predictions, const Tensor& targets);
  /// The number of rows.
  int64_t count() const { return errors_.count; }
  void reset();

 protected:
  /// Errors begin with `name`, the class.
  explicit OutputVariances(const char* name) : name_(name) {}
  /// Sums over rows, f64 (outputs): of (target - mean target)^2, of (error - mean error)^2, and of error^2. Undefined
  /// before the first batch.
  Tensor spread_of_targets() const { return targets_.spread; }
  Tensor spread_of_errors() const { return errors_.spread; }
  Tensor squares_of_errors() const;

 private:
  struct Moments {
    int64_t count = 0;
    Tensor mean, spread;  // f64 (outputs); undefined before the first batch
    Moments with(const Tensor& rows) const;
  };
  const char* name_;
  Moments targets_, errors_;
};

/// The coefficient of determination, 1 - (sum of squared errors) / (sum of squared differences of the targets from
/// their mean). 1 for exact predictions; 0 for those that are no better than the mean target. Where all targets of an
/// output are equal, it is 1 if all predictions are right, else 0 (as in scikit-learn).
class R2 : public OutputVariances {
 public:
  R2() : OutputVariances("R2") {}
  /// The mean over outputs. NaN for less than two rows.
  double value() const;
  /// f64 (outputs); (0) before the first batch.
  Tensor of_outputs() const;
};

/// 1 - variance(errors) / variance(targets): R2 without what a constant error costs. Where all targets of an output are
/// equal, it is 1 if all errors are, else 0 (as in scikit-learn).
class ExplainedVariance : public OutputVariances {
 public:
  ExplainedVariance() : OutputVariances("ExplainedVariance") {}
  /// The mean over outputs. NaN for less than two rows.
  double value() const;
  /// f64 (outputs); (0) before the first batch.
  Tensor of_outputs() const;
};

}  // namespace weft::metrics
