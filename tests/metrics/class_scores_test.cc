// Metrics of scores of several classes.
#include "metrics/class_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor/all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

using metrics::Average;

const Tensor kScores = tensor({{0.7, 0.2, 0.1},
                               {0.1, 0.55, 0.35},
                               {0.3, 0.28, 0.42},
                               {0.5, 0.3, 0.2},
                               {0.15, 0.82, 0.03},
                               {0.3, 0.3, 0.4},
                               {0.5, 0.1, 0.4},
                               {0.2, 0.6, 0.2}},
                              f64);
const Tensor kLabels = tensor({0, 2, 2, 1, 1, 2, 0, 0});

metrics::ClassScores of_two_batches(Average average) {
  metrics::ClassScores out(3, {.average = average});
  out.update(kScores.slice(0, 0, 3), kLabels.slice(0, 0, 3));
  out.update(kScores.slice(0, 3), kLabels.slice(0, 3));
  return out;
}

void expect_near(const Tensor& got, const Tensor& expected) {
  EXPECT_EQ(got.dtype(), f64);
  EXPECT_TRUE(allclose(got, expected, 0, 1e-14, true)) << got;
}

// sklearn.metrics: roc_auc_score(labels, scores, multi_class="ovr", "ovo", average=...), average_precision_score of
// labels as rows of the unit matrix
TEST(ClassScores, AreasAreScikitLearns) {
  const metrics::ClassScores macro = of_two_batches(Average::macro), weighted = of_two_batches(Average::weighted),
                             micro = of_two_batches(Average::micro);
  EXPECT_EQ(macro.count(), 8);
  EXPECT_NEAR(macro.auc(), 0.8194444444444443, 1e-14);
  EXPECT_NEAR(weighted.auc(), 0.8229166666666666, 1e-14);
  EXPECT_NEAR(micro.auc(), 0.78125, 1e-14);
  EXPECT_NEAR(macro.auc_of_pairs(), 0.8240740740740741, 1e-14);
  EXPECT_NEAR(weighted.auc_of_pairs(), 0.8229166666666667, 1e-14);
  EXPECT_NEAR(macro.average_precision(), 0.7425925925925926, 1e-14);
  EXPECT_NEAR(weighted.average_precision(), 0.7479166666666667, 1e-14);
  EXPECT_NEAR(micro.average_precision(), 0.6435045948203842, 1e-14);
  expect_near(macro.auc_of_classes(), tensor({0.7666666666666666, 0.7916666666666666, 0.9}, f64));
  expect_near(macro.average_precision_of_classes(), tensor({0.7222222222222222, 0.7, 0.8055555555555556}, f64));
  EXPECT_DOUBLE_EQ(macro.of_class(2).auc(), 0.9);
}

TEST(ClassScores, AClassWithoutLabelsIsLeftOut) {
  metrics::MulticlassAuc auc(3);
  EXPECT_TRUE(std::isnan(auc.value()));
  EXPECT_TRUE(std::isnan(auc.auc_of_pairs()));
  auc.update(kScores, where(kLabels == 2, 1, kLabels));
  EXPECT_DOUBLE_EQ(auc.value(), 0.75);  // of each of the other two; with 0 for the third it were 0.5
  EXPECT_TRUE(isnan(auc.auc_of_classes()[2]).item<bool>());
  EXPECT_DOUBLE_EQ(auc.auc_of_pairs(), auc.value());  // the other two are the only pair
  auc.reset();
  EXPECT_EQ(auc.count(), 0);
  metrics::MulticlassAveragePrecision precision(3);
  precision.update(kScores, full({8}, 1));
  EXPECT_EQ(precision.value(), 1);
}

TEST(ClassScores, PixelsHalfPrecisionAndIgnoredLabels) {
  metrics::ClassScores flat(3), pixels(3, {.ignore_index = 7});
  const Tensor halves = kScores.to(bf16);
  flat.update(halves.slice(0, 0, 6), kLabels.slice(0, 0, 6));
  Tensor labels = kLabels.clone();
  labels.slice(0, 6).fill_(7);
  pixels.update(halves.view({2, 4, 3}).transpose(1, 2), labels.view({2, 4}));
  EXPECT_EQ(pixels.count(), 6);
  EXPECT_EQ(pixels.auc(), flat.auc());
  flat.update(kScores.slice(0, 6), kLabels.slice(0, 6));  // f64 behind bf16
  EXPECT_EQ(flat.count(), 8);
}

TEST(ClassScores, KeepsItsOwnCopies) {
  metrics::ClassScores scores(3);
  Tensor given = kScores.clone(), labels = kLabels.clone();
  scores.update(given, labels);
  const double before = scores.auc();
  given.zero_(), labels.zero_();
  EXPECT_EQ(scores.auc(), before);
}

TEST(ClassScores, Errors) {
  EXPECT_EQ(error_of([] { metrics::ClassScores(1); }), "ClassScores(): the number of classes must be 2 or more, not 1");
  metrics::MulticlassAuc auc(3, {.average = Average::micro});
  EXPECT_EQ(error_of([&] {
              auc.update(ones({2, 4}), zeros({2}, i64));
            }),
            "MulticlassAuc([2, 4] f32, [2] i64): scores [2, 4] are of 4 classes, not 3");
  EXPECT_SAYS(error_of([&] { auc.update(ones({2, 3}), full({2}, 3)); }), "label 3 is out of range for 3 classes");
  EXPECT_SAYS(error_of([&] { auc.update(full({2, 3}, NAN), zeros({2}, i64)); }), "a score is NaN");
  EXPECT_EQ(error_of([&] { auc.auc_of_pairs(); }),
            "MulticlassAuc(): pairs of classes have no micro average; take macro or weighted");
  EXPECT_EQ(error_of([&] { auc.of_class(3); }), "MulticlassAuc(): class 3 is out of range for 3 classes");
  EXPECT_EQ(auc.count(), 0);
}

}  // namespace
}  // namespace weft
