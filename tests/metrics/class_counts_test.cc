// Metrics of classes beyond precision and recall: values as scikit-learn and torchmetrics give them.
#include <gtest/gtest.h>

#include <cmath>

#include "metrics/confusion_matrix.h"
#include "tensor/all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

using metrics::Average;
using metrics::KappaWeights;

const Tensor kLabels = tensor({0, 1, 2, 2, 1, 0, 2, 3});
const Tensor kPredicted = tensor({0, 2, 2, 2, 1, 1, 0, 2});

template <class Metric> double value_of(Metric metric, const Tensor& predicted, const Tensor& labels) {
  const int64_t half = labels.numel() / 2;
  metric.update(predicted.slice(0, 0, half), labels.slice(0, 0, half));
  metric.update(predicted.slice(0, half), labels.slice(0, half));
  return metric.value();
}

// fbeta_score(zero_division=0) and jaccard_score(zero_division=0) of sklearn.metrics, and specificity of torchmetrics.
TEST(ClassCounts, AveragesFBetaJaccardAndSpecificity) {
  struct Row {
    Average average;
    double f2, f_half, jaccard, specificity;
  };
  const Row rows[] = {{Average::macro, 0.40625, 0.381578947368421, 4.0 / 15, 49.0 / 60},
                      {Average::weighted, 0.484375, 0.4473684210526316, 19.0 / 60, 23.0 / 30},
                      {Average::micro, 0.5, 0.5, 1.0 / 3, 5.0 / 6}};
  for (const auto& [average, f2, f_half, jaccard, specificity] : rows) {
    const metrics::ClassOptions options = {.average = average};
    EXPECT_DOUBLE_EQ(value_of(metrics::FBeta(4, 2, options), kPredicted, kLabels), f2);
    EXPECT_DOUBLE_EQ(value_of(metrics::FBeta(4, 0.5, options), kPredicted, kLabels), f_half);
    EXPECT_DOUBLE_EQ(value_of(metrics::JaccardIndex(4, options), kPredicted, kLabels), jaccard);
    EXPECT_DOUBLE_EQ(value_of(metrics::Specificity(4, options), kPredicted, kLabels), specificity);
  }
}

TEST(ClassCounts, OfEachClass) {
  metrics::ConfusionMatrix confusion(4);
  confusion.update(kPredicted, kLabels);
  const auto expect_close = [](const Tensor& got, const Tensor& expected) {
    EXPECT_EQ(got.dtype(), f64);
    EXPECT_TRUE(allclose(got, expected, 1e-15)) << got;
  };
  expect_close(confusion.fbeta_of_classes(2), tensor({0.5, 0.5, 0.625, 0.0}, f64));
  expect_close(confusion.jaccard_of_classes(), tensor({1.0 / 3, 1.0 / 3, 0.4, 0.0}, f64));
  expect_close(confusion.specificity_of_classes(), tensor({5.0 / 6, 5.0 / 6, 0.6, 1.0}, f64));
  expect_close(confusion.fbeta_of_classes(0), confusion.precision_of_classes());
  expect_close(confusion.fbeta_of_classes(1e100), confusion.recall_of_classes());
}

// matthews_corrcoef, balanced_accuracy_score and cohen_kappa_score of sklearn.metrics.
TEST(ClassCounts, NumbersOfAllClasses) {
  EXPECT_DOUBLE_EQ(value_of(metrics::MatthewsCorrelation(4), kPredicted, kLabels), 0.27975144247209416);
  EXPECT_DOUBLE_EQ(value_of(metrics::BalancedAccuracy(6), kPredicted, kLabels), 5.0 / 12);
  // Class 1 is only predicted.
  EXPECT_DOUBLE_EQ(value_of(metrics::BalancedAccuracy(3), tensor({0, 1, 2, 2}), tensor({0, 0, 2, 2})), 0.75);
  const auto kappa = [](KappaWeights weights) {
    return value_of(metrics::CohenKappa(4, {.weights = weights}), kPredicted, kLabels);
  };
  EXPECT_DOUBLE_EQ(kappa(KappaWeights::none), 3.0 / 11);
  EXPECT_DOUBLE_EQ(kappa(KappaWeights::linear), 0.375);
  EXPECT_DOUBLE_EQ(kappa(KappaWeights::quadratic), 13.0 / 27);
}

TEST(ClassCounts, NumbersOfAllClassesAtTheirLimits) {
  const Tensor labels = tensor({0, 1, 2, 2, 1});
  EXPECT_EQ(value_of(metrics::MatthewsCorrelation(3), labels, labels), 1);
  EXPECT_EQ(value_of(metrics::CohenKappa(3), labels, labels), 1);
  EXPECT_DOUBLE_EQ(value_of(metrics::MatthewsCorrelation(2), tensor({0, 1, 1, 0}), tensor({1, 0, 0, 1})), -1);
  const Tensor ones = tensor({1, 1, 1}), mixed = tensor({1, 1, 0});
  EXPECT_EQ(value_of(metrics::MatthewsCorrelation(2), ones, ones), 0);
  EXPECT_EQ(value_of(metrics::MatthewsCorrelation(2), mixed, ones), 0);
  EXPECT_EQ(value_of(metrics::CohenKappa(2), mixed, ones), 0);
  EXPECT_TRUE(std::isnan(value_of(metrics::CohenKappa(2), ones, ones)));
  EXPECT_EQ(value_of(metrics::Specificity(2), ones, ones), 0);  // no pair has another label: 0 / 0
}

TEST(ClassCounts, OfNothingAreNaN) {
  for (const Average average : {Average::macro, Average::weighted, Average::micro}) {
    const metrics::ConfusionMatrix none(3, {.average = average});
    for (const double value : {none.fbeta(2), none.jaccard(), none.specificity(), none.balanced_accuracy(),
                               none.matthews_correlation(), none.cohen_kappa(), none.precision(), none.f1()})
      EXPECT_TRUE(std::isnan(value));
  }
}

TEST(ClassCounts, LeaveIgnoredLabelsOut) {
  const Tensor labels = tensor({9, 0, 1, 9}), predicted = tensor({0, 0, 1, 1});
  EXPECT_EQ(value_of(metrics::MatthewsCorrelation(2, {.ignore_index = 9}), predicted, labels), 1);
  EXPECT_EQ(value_of(metrics::BalancedAccuracy(2, {.ignore_index = 9}), predicted, labels), 1);
  EXPECT_EQ(value_of(metrics::CohenKappa(2, {.ignore_index = 9}), predicted, labels), 1);
}

TEST(ClassCounts, NumbersOfManyClassesNeedNoMatrix) {
  const Tensor predictions = tensor({7, 99'999, 3, 3}), labels = tensor({7, 99'999, 5, 3});
  // Of classes 3, 5, 7 and 99'999.
  EXPECT_DOUBLE_EQ(value_of(metrics::JaccardIndex(100'000), predictions, labels), (0.5 + 0 + 1 + 1) / 4);
  EXPECT_DOUBLE_EQ(value_of(metrics::FBeta(100'000, 1), predictions, labels), (2.0 / 3 + 0 + 1 + 1) / 4);
  EXPECT_DOUBLE_EQ(value_of(metrics::BalancedAccuracy(100'000), predictions, labels), 0.75);
  EXPECT_DOUBLE_EQ(value_of(metrics::MatthewsCorrelation(100'000), predictions, labels),
                   (4 * 3 - 4) / std::sqrt((16 - 6) * (16 - 4)));
}

TEST(ClassCounts, Errors) {
  const std::string beta = "FBeta(): beta must be 0 or more, with a finite square, not ";
  EXPECT_EQ(error_of([] { metrics::FBeta(3, -1); }), beta + "-1");
  EXPECT_EQ(error_of([] { metrics::FBeta(3, NAN); }), beta + "nan");
  EXPECT_EQ(error_of([] { (void)metrics::FBeta(3, 1).fbeta_of_classes(1e200); }), beta + "1e+200");
  EXPECT_EQ(error_of([] { metrics::CohenKappa(0); }), "CohenKappa(): the number of classes must be 1 or more, not 0");
  metrics::JaccardIndex jaccard(3);
  EXPECT_EQ(error_of([&] { jaccard.update(kPredicted, kLabels); }),
            "JaccardIndex([8] i64, [8] i64): label 3 is out of range for 3 classes");
}

}  // namespace
}  // namespace weft
