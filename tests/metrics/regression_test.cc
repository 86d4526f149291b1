// Metrics of predicted numbers.
#include "metrics/regression.h"

#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace weft
