// Metrics of predicted numbers, and calibration of predicted probabilities.
#include "metrics/regression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "metrics/calibration.h"
#include "tensor/all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

const Tensor kTargets = tensor({{3.0, -0.5}, {2.0, 7.0}, {-1.0, 2.0}, {0.5, 6.0}});
const Tensor kPredictions = tensor({{2.5, 0.0}, {2.0, 8.0}, {-1.5, 2.0}, {1.0, 5.0}});

/// The metric after batches of three rows, of none, and of one.
template <class Metric> Metric updated(Metric metric, const Tensor& predictions, const Tensor& targets) {
  for (const auto& [begin, end] : {std::pair{0, 3}, {3, 3}, {3, 4}})
    metric.update(predictions.slice(0, begin, end), targets.slice(0, begin, end));
  return metric;
}

// sklearn.metrics: mean_absolute_error, mean_squared_error
TEST(Regression, MeanErrorsAreScikitLearns) {
  const auto absolute = updated(metrics::MeanAbsoluteError(), kPredictions, kTargets);
  EXPECT_DOUBLE_EQ(absolute.value(), 0.5);
  EXPECT_EQ(absolute.count(), 8);
  auto squared = updated(metrics::MeanSquaredError(), kPredictions, kTargets);
  EXPECT_DOUBLE_EQ(squared.value(), 0.375);
  EXPECT_DOUBLE_EQ(squared.root(), std::sqrt(0.375));
  squared.reset();
  EXPECT_TRUE(std::isnan(squared.value()));
  squared.update(tensor({200}, u8), tensor({0}, u8));  // no overflow
  EXPECT_EQ(squared.value(), 40'000);
}

// sklearn.metrics: r2_score, explained_variance_score, with multioutput="raw_values"
TEST(Regression, ExplainedVarianceOfEachOutput) {
  const auto r2 = updated(metrics::R2(), kPredictions, kTargets);
  EXPECT_EQ(r2.count(), 4);
  EXPECT_NEAR(r2.value(), 0.9285192782394047, 1e-15);
  EXPECT_TRUE(allclose(r2.of_outputs(), tensor({0.91836735, 0.93867121}, f64), 1e-8));
  const auto explained = updated(metrics::ExplainedVariance(), kPredictions, kTargets);
  EXPECT_NEAR(explained.value(), 0.9327724275400109, 1e-15);
  EXPECT_TRUE(allclose(explained.of_outputs(), tensor({0.92517007, 0.94037479}, f64), 1e-8));
  const auto one = updated(metrics::R2(), kPredictions.select(1, 1), kTargets.select(1, 1));
  EXPECT_EQ(one.value(), r2.of_outputs()[1].item<double>());
}

TEST(Regression, ExplainedVarianceOfEqualTargets) {
  const Tensor same = full({4}, 0.1), other = tensor({0.1, 0.1, 0.1, 0.2});
  EXPECT_EQ(updated(metrics::R2(), same, same).value(), 1);
  EXPECT_EQ(updated(metrics::R2(), other, same).value(), 0);
  EXPECT_EQ(updated(metrics::ExplainedVariance(), same + 1.0, same).value(), 1);
  EXPECT_EQ(updated(metrics::ExplainedVariance(), other, same).value(), 0);
}

TEST(Regression, ExplainedVarianceFarFromZero) {
  const Tensor far = kTargets.to(f64) + 1e9;
  EXPECT_NEAR(updated(metrics::R2(), far + 1.0, far).value(), 1 - (4 / 9.1875 + 4 / 36.6875) / 2, 1e-6);
  EXPECT_EQ(updated(metrics::ExplainedVariance(), far + 1.0, far).value(), 1);
}

TEST(Regression, ExplainedVarianceOfLessThanTwoRowsIsNaN) {
  metrics::R2 r2;
  EXPECT_TRUE(std::isnan(r2.value()));
  EXPECT_EQ(r2.of_outputs().shape(), Shape({0}));
  r2.update(tensor({1.0}), tensor({1.0}));
  EXPECT_TRUE(std::isnan(r2.value()));
  r2.reset();
  r2.update(kPredictions, kTargets);  // another number of outputs
  const metrics::R2 copy = r2;
  r2.update(-kPredictions, kTargets);
  EXPECT_EQ(copy.count(), 4);
  EXPECT_LT(r2.value(), copy.value());
  metrics::ExplainedVariance explained;
  explained.update(tensor({NAN, 1.0}), tensor({0.0, 1.0}));
  EXPECT_TRUE(std::isnan(explained.value()));
}

TEST(Regression, Errors) {
  metrics::MeanSquaredError squared;
  EXPECT_EQ(error_of([&] {
              squared.update(ones({3, 1}), ones({3}));
            }),
            "MeanSquaredError([3, 1] f32, [3] f32): predictions and targets have one shape, not [3, 1] and [3]");
  metrics::R2 r2;
  EXPECT_EQ(error_of([&] { r2.update(ones({}), ones({})); }),
            "R2([] f32, [] f32): predictions and targets are (n) or (n, outputs), not []");
  EXPECT_EQ(error_of([&] {
              r2.update(ones({2, 0}), ones({2, 0}));
            }),
            "R2([2, 0] f32, [2, 0] f32): there are 0 outputs");
  r2.update(kPredictions, kTargets);
  EXPECT_EQ(error_of([&] { r2.update(ones({2}), ones({2})); }),
            "R2([2] f32, [2] f32): there are 1 outputs, and were 2 before");
  EXPECT_EQ(r2.count(), 4);
}

const Tensor kProbabilities =
    tensor({{0.7, 0.2, 0.1}, {0.1, 0.55, 0.35}, {0.3, 0.28, 0.42}, {0.9, 0.05, 0.05}, {0.15, 0.82, 0.03}});
const Tensor kClasses = tensor({0, 2, 2, 1, 1});

// torchmetrics.functional.calibration_error(n_bins=5, norm="l1", "l2", "max"), which computes in f32
TEST(CalibrationError, IsTorchmetricss) {
  metrics::CalibrationError error({.bins = 5});
  EXPECT_TRUE(std::isnan(error.value()));
  EXPECT_TRUE(std::isnan(error.maximum()));
  error.update(kProbabilities.slice(0, 0, 2), kClasses.slice(0, 0, 2));
  error.update(kProbabilities.slice(0, 2), kClasses.slice(0, 2));
  EXPECT_EQ(error.count(), 5);
  EXPECT_NEAR(error.value(), 0.21, 1e-7);
  EXPECT_NEAR(error.root_mean_square(), 0.26444280, 1e-7);
  EXPECT_NEAR(error.maximum(), 0.36, 1e-7);
  error.reset();
  error.update(tensor({0.1, 0.3, 0.35, 0.9, 0.65}), tensor({0, 1, 0, 1, 0}));
  EXPECT_NEAR(error.value(), 0.24, 1e-7);
  EXPECT_NEAR(error.root_mean_square(), 0.31741140, 1e-7);
  EXPECT_NEAR(error.maximum(), 0.65, 1e-7);
}

TEST(CalibrationError, OfProbabilitiesAtTheEnds) {
  metrics::CalibrationError error({.bins = 2, .ignore_index = -1});
  error.update(tensor({0.0, 0.5, 1.0, 0.9}, f64), tensor({0, 1, 1, -1}));  // 0 and 0.5 in the first bin
  EXPECT_EQ(error.count(), 3);
  EXPECT_DOUBLE_EQ(error.maximum(), 0.25);
  EXPECT_DOUBLE_EQ(error.value(), 0.5 / 3);
}

TEST(CalibrationError, ABinHoldsItsUpperEnd) {
  for (int64_t end = 1; end <= 25; ++end) {  // 7 / 25 * 25 > 7 in f64
    metrics::CalibrationError error({.bins = 25});
    const double upper = static_cast<double>(end) / 25;
    error.update(tensor({upper, upper - 0.02}, f64), tensor({1, 0}));
    EXPECT_NEAR(error.value(), std::abs(upper - 0.51), 1e-12) << end << ": both are in one bin";
  }
  metrics::CalibrationError one({.bins = 1});
  one.update(tensor({0.0, 1.0}, f64), tensor({1, 1}));
  EXPECT_EQ(one.value(), 0.5);
}

TEST(CalibrationError, Errors) {
  EXPECT_EQ(error_of([] { metrics::CalibrationError({.bins = 0}); }),
            "CalibrationError(): the number of bins must be 1 or more, not 0");
  metrics::CalibrationError error;
  const std::string range = "a probability is not in [0, 1]; of scores (logits), take softmax() or sigmoid() first";
  EXPECT_EQ(error_of([&] { error.update(tensor({1.5}), tensor({1})); }),
            "CalibrationError([1] f32, [1] i64): " + range);
  EXPECT_SAYS(error_of([&] { error.update(tensor({NAN}), tensor({1})); }), range.c_str());
  EXPECT_SAYS(error_of([&] { error.update(tensor({{0.5, -0.1}}), tensor({1})); }), range.c_str());
  EXPECT_EQ(error_of([&] { error.update(tensor({0.5}), tensor({2})); }),
            "CalibrationError([1] f32, [1] i64): label 2 is out of range for 2 classes");
  EXPECT_EQ(error_of([&] {
              error.update(ones({2, 1}), zeros({2}, i64));
            }),
            "CalibrationError([2, 1] f32, [2] i64): probabilities [2, 1] are of one class; give those of class 1 the "
            "labels' shape, as by `squeeze(1)`");
  EXPECT_EQ(error.count(), 0);
}

}  // namespace
}  // namespace weft
