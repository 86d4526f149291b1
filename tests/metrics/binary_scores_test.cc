// Metrics of scores of two classes: areas and curves.
#include "metrics/binary_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor/all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

const Tensor kScores = tensor({0.1, 0.4, 0.35, 0.8, 0.4, 0.4, 0.9}, f64);
const Tensor kLabels = tensor({0, 0, 1, 1, 1, 0, 0});

metrics::BinaryScores of_two_batches() {
  metrics::BinaryScores out;
  out.update(kScores.slice(0, 0, 3), kLabels.slice(0, 0, 3));
  out.update(kScores.slice(0, 3), kLabels.slice(0, 3) == 1);
  return out;
}

void expect_near(const Tensor& got, const std::vector<double>& expected) {
  EXPECT_EQ(got.dtype(), f64);
  ASSERT_EQ(got.shape(), Shape({static_cast<int64_t>(expected.size())}));
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_DOUBLE_EQ(got[static_cast<int64_t>(i)].item<double>(), expected[i]) << i;
}

TEST(Auc, IsExactWithTies) {
  metrics::Auc auc;
  EXPECT_TRUE(std::isnan(auc.value()));
  auc.update(tensor({0.1, 0.4, 0.35, 0.8}), tensor({0, 0, 1, 1}));
  EXPECT_DOUBLE_EQ(auc.value(), 0.75);  // scikit-learn's example
  auc.update(tensor({0.4}), tensor({true}));
  auc.update(tensor({0.4}), tensor({0.0}));
  // Positive scores 0.35 0.8 0.4 against 0.1 0.4 0.4: 1 + 0 + 0, 3, 1 + 0.5 + 0.5 of 9.
  EXPECT_DOUBLE_EQ(auc.value(), 6.0 / 9);
  EXPECT_EQ(auc.count(), 6);
  auc.reset();
  auc.update(tensor({0.5, 0.5}), tensor({1, 1}));
  EXPECT_TRUE(std::isnan(auc.value()));
}

TEST(Auc, EqualsTheCountOfPairs) {
  manual_seed(3);
  const Tensor scores = randint(0, 20, {300}), labels = randint(0, 2, {300});
  metrics::Auc auc;
  auc.update(scores, labels);
  double above = 0, pairs = 0;
  const auto s = scores.to_vector<double>(), l = labels.to_vector<double>();
  for (size_t i = 0; i < s.size(); ++i)
    for (size_t j = 0; j < s.size(); ++j) {
      if (l[i] != 1 || l[j] != 0) continue;
      pairs += 1;
      above += s[i] > s[j] ? 1 : s[i] == s[j] ? 0.5 : 0;
    }
  EXPECT_NEAR(auc.value(), above / pairs, 1e-12);
}

TEST(Auc, Errors) {
  metrics::Auc auc;
  EXPECT_EQ(error_of([&] { auc.update(tensor({0.5}), tensor({2})); }),
            "Auc([1] f32, [1] i64): a label is neither 0 nor 1");
  EXPECT_EQ(error_of([&] { auc.update(tensor({NAN}), tensor({1})); }), "Auc([1] f32, [1] i64): a score is NaN");
  EXPECT_EQ(error_of([&] {
              auc.update(tensor({0.5}), tensor({1, 0}));
            }),
            "Auc([1] f32, [2] i64): scores and labels have one shape, not [1] and [2]");
}

// sklearn.metrics: roc_auc_score, average_precision_score, roc_curve(drop_intermediate=False), precision_recall_curve
TEST(BinaryScores, AreasAndCurvesAreScikitLearns) {
  const metrics::BinaryScores scores = of_two_batches();
  EXPECT_EQ(scores.count(), 7);
  EXPECT_DOUBLE_EQ(scores.auc(), 0.5);
  EXPECT_DOUBLE_EQ(scores.average_precision(), 7.0 / 15);
  const auto [false_positive, true_positive, thresholds] = scores.roc_curve();
  expect_near(false_positive, {0, 0.25, 0.25, 0.75, 0.75, 1});
  expect_near(true_positive, {0, 0, 1.0 / 3, 2.0 / 3, 1, 1});
  expect_near(thresholds, {INFINITY, 0.9, 0.8, 0.4, 0.35, 0.1});
  const auto [precision, recall, at] = scores.precision_recall_curve();
  expect_near(precision, {3.0 / 7, 0.5, 0.4, 0.5, 0, 1});
  expect_near(recall, {1, 1, 2.0 / 3, 1.0 / 3, 0, 0});
  expect_near(at, {0.1, 0.35, 0.4, 0.8, 0.9});
  metrics::AveragePrecision area;
  area.update(kScores.to(f32), kLabels);
  EXPECT_DOUBLE_EQ(area.value(), 7.0 / 15);
}

TEST(BinaryScores, OfOneClassOrOfNothingAreNaN) {
  metrics::BinaryScores scores;
  EXPECT_TRUE(std::isnan(scores.average_precision()));
  expect_near(scores.precision_recall_curve().thresholds, {});
  EXPECT_EQ(scores.roc_curve().thresholds.numel(), 1);
  scores.update(zeros({0}), zeros({0}, i64));
  scores.update(tensor({0.5, -INFINITY}), tensor({0, 0}));
  EXPECT_TRUE(std::isnan(scores.average_precision()));
  EXPECT_TRUE(std::isnan(scores.auc()));
  expect_near(scores.roc_curve().false_positive_rate, {0, 0.5, 1});
  EXPECT_TRUE(all(isnan(scores.roc_curve().true_positive_rate)).item<bool>());
  expect_near(scores.precision_recall_curve().precision, {0, 0, 1});
  EXPECT_TRUE(all(isnan(scores.precision_recall_curve().recall)).item<bool>());
  scores.reset();
  scores.update(tensor({0.5, 0.25}), tensor({1, 1}));
  EXPECT_DOUBLE_EQ(scores.average_precision(), 1);
}

}  // namespace
}  // namespace weft
