// Metrics: values as NumPy and scikit-learn give them, and errors.
#include "metrics/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor/all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

const Tensor kLabels = tensor({0, 1, 2, 2, 1, 0, 2, 3});
const Tensor kPredicted = tensor({0, 2, 2, 2, 1, 1, 0, 2});

TEST(Accuracy, OfClassesAndOfScores) {
  metrics::Accuracy accuracy;
  EXPECT_TRUE(std::isnan(accuracy.value()));
  accuracy.update(kPredicted, kLabels);
  EXPECT_DOUBLE_EQ(accuracy.value(), 4.0 / 8);
  accuracy.update(tensor({{0.1, 0.9}, {0.8, 0.2}}), tensor({1, 1}));
  EXPECT_DOUBLE_EQ(accuracy.value(), 5.0 / 10);
  EXPECT_EQ(accuracy.count(), 10);
  accuracy.reset();
  // (n, classes, positions)
  accuracy.update(tensor({{{1.0, 0.0, 3.0}, {0.0, 1.0, 2.0}}}), tensor({{0, 1, 1}}));
  EXPECT_DOUBLE_EQ(accuracy.value(), 2.0 / 3);
}

TEST(Accuracy, LeavesIgnoredLabelsOut) {
  metrics::Accuracy accuracy({.ignore_index = 0});
  accuracy.update(kPredicted, kLabels);
  EXPECT_DOUBLE_EQ(accuracy.value(), 3.0 / 6);
  accuracy.update(tensor({1}), tensor({0}));
  EXPECT_EQ(accuracy.count(), 6);
}

TEST(Accuracy, TakesNoHistory) {
  metrics::Accuracy accuracy;
  const Tensor scores = tensor({{0.1, 0.9}}).requires_grad_();
  accuracy.update(scores, tensor({1}));
  EXPECT_DOUBLE_EQ(accuracy.value(), 1);
}

TEST(Accuracy, Errors) {
  metrics::Accuracy accuracy;
  EXPECT_EQ(error_of([&] {
              accuracy.update(ones({2, 3}), ones({3}, i64));
            }),
            "Accuracy([2, 3] f32, [3] i64): scores are (n, classes, ...) for labels (n, ...), not [2, 3] for [3]");
  EXPECT_EQ(
      error_of([&] { accuracy.update(ones({2}), ones({2}, i64)); }),
      "Accuracy([2] f32, [2] i64): predictions of the labels' shape are classes, integers, not f32; scores have the "
      "classes at axis 1");
  EXPECT_EQ(error_of([&] {
              accuracy.update(ones({2, 2}), ones({2}));
            }),
            "Accuracy([2, 2] f32, [2] f32): labels are classes, integers, not f32");
  EXPECT_EQ(error_of([&] {
              accuracy.update(ones({2, 0}), ones({2}, i64));
            }),
            "Accuracy([2, 0] f32, [2] i64): there are scores of 0 classes");
  EXPECT_EQ(error_of([&] {
              accuracy.update(zeros({2, 1}), tensor({0, 1}));
            }),
            "Accuracy([2, 1] f32, [2] i64): scores [2, 1] are of one class, which is always the best; give the classes "
            "themselves, as in `scores.squeeze(1) > 0`");
}

TEST(Accuracy, RefusesLabelsThatAreNoClassAndScoresThatAreNaN) {
  const Tensor scores = tensor({{0.5, 0.5}, {0.1, 0.2}}), nan = tensor({{0.5, NAN}, {0.1, 0.2}});
  metrics::Accuracy accuracy;
  metrics::TopKAccuracy top(1);
  metrics::ConfusionMatrix confusion(4);
  const auto both = [&](const Tensor& predictions, const Tensor& labels) {
    std::string first = error_of([&] { accuracy.update(predictions, labels); });
    const std::string second = error_of([&] { top.update(predictions, labels); });
    EXPECT_EQ("TopK" + first, second);
    EXPECT_EQ("ConfusionMatrix" + first.substr(8), error_of([&] { confusion.update(predictions, labels); }));
    return first;
  };
  EXPECT_EQ(both(scores, tensor({0, 2})), "Accuracy([2, 2] f32, [2] i64): label 2 is out of range for 2 classes");
  EXPECT_EQ(both(scores, tensor({-1, 0})), "Accuracy([2, 2] f32, [2] i64): label -1 is out of range for 2 classes");
  EXPECT_EQ(both(nan, tensor({0, 1})), "Accuracy([2, 2] f32, [2] i64): a score is NaN");
  EXPECT_THROW(accuracy.update(scores, tensor({0, 2})), IndexError);
  EXPECT_EQ(accuracy.count() + top.count() + confusion.count(), 0);
  accuracy.update(nan, tensor({-100, 1}));  // the first is ignored
  accuracy.update(tensor({{1, 0}}), tensor({0}));
  EXPECT_EQ(accuracy.value(), 1);
}

TEST(TopKAccuracy, CountsLabelsAmongTheBest) {
  const Tensor scores = tensor({{0.5, 0.2, 0.3}, {0.1, 0.2, 0.7}, {0.4, 0.4, 0.2}});
  metrics::TopKAccuracy one(1), two(2);
  for (auto* metric : {&one, &two}) metric->update(scores, tensor({2, 2, 1}));
  EXPECT_DOUBLE_EQ(one.value(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(two.value(), 1);
  EXPECT_THROW(metrics::TopKAccuracy(0), Error);
  metrics::TopKAccuracy many(4);
  EXPECT_EQ(error_of([&] {
              many.update(scores, tensor({2, 2, 1}));
            }),
            "TopKAccuracy([3, 3] f32, [3] i64): k = 4 is more than the 3 classes");
}

TEST(ConfusionMatrix, CountsLabelsByPredictions) {
  metrics::ConfusionMatrix confusion(4);
  confusion.update(kPredicted, kLabels);
  EXPECT_TRUE(equal(confusion.matrix(), tensor({{1, 1, 0, 0}, {0, 1, 1, 0}, {1, 0, 2, 0}, {0, 0, 1, 0}})));
  EXPECT_DOUBLE_EQ(confusion.accuracy(), 0.5);
  EXPECT_EQ(confusion.count(), 8);
  confusion.update(tensor({3}), tensor({3}));
  EXPECT_EQ(confusion.matrix()[3][3].item<int64_t>(), 1);
  confusion.reset();
  EXPECT_EQ(confusion.count(), 0);
  EXPECT_TRUE(std::isnan(confusion.f1()));
}

// sklearn.metrics.precision_recall_fscore_support(labels, predictions, average=..., zero_division=0)
TEST(ConfusionMatrix, CountsManyPairsAsItCountsFew) {
  metrics::ConfusionMatrix many(3), few(3);
  const Tensor predictions = randint(0, 3, {40}), labels = randint(0, 3, {40});
  many.update(predictions, labels);
  for (int64_t i = 0; i < 40; i += 4) few.update(narrow(predictions, 0, i, 4), narrow(labels, 0, i, 4));
  EXPECT_TRUE(equal(many.matrix(), few.matrix()));
  const metrics::ConfusionMatrix copy = many;
  many.update(predictions, labels);
  EXPECT_EQ(copy.count(), 40);
  EXPECT_EQ(many.count(), 80);
}

TEST(ConfusionMatrix, AveragesAsScikitLearn) {
  using metrics::Average;
  struct Row {
    Average average;
    double precision, recall, f1;
  };
  const double f0 = 0.5, f1 = 0.5, f2 = 4.0 / 7;
  const Row rows[] = {
      {Average::macro, (0.5 + 0.5 + 0.5 + 0) / 4, (0.5 + 0.5 + 2.0 / 3 + 0) / 4, (f0 + f1 + f2 + 0) / 4},
      {Average::weighted, (2 * 0.5 + 2 * 0.5 + 3 * 0.5) / 8, 0.5, (2 * f0 + 2 * f1 + 3 * f2) / 8},
      {Average::micro, 0.5, 0.5, 0.5}};
  for (const Row& row : rows) {
    metrics::Precision precision(4, {.average = row.average});
    metrics::Recall recall(4, {.average = row.average});
    metrics::F1 f(6, {.average = row.average});  // classes that never occur change nothing
    precision.update(kPredicted, kLabels);
    recall.update(kPredicted, kLabels);
    f.update(kPredicted, kLabels);
    EXPECT_DOUBLE_EQ(precision.value(), row.precision);
    EXPECT_DOUBLE_EQ(recall.value(), row.recall);
    EXPECT_DOUBLE_EQ(f.value(), row.f1);
  }
  metrics::ConfusionMatrix confusion(4);
  confusion.update(kPredicted, kLabels);
  EXPECT_TRUE(equal(confusion.recall_of_classes(), tensor({0.5, 0.5, 2.0 / 3, 0.0}, f64)));
  EXPECT_TRUE(equal(confusion.precision_of_classes(), tensor({0.5, 0.5, 0.5, 0.0}, f64)));
}

TEST(ConfusionMatrix, CopiesCountOnTheirOwn) {
  metrics::F1 a(2);
  a.update(tensor({0, 1}), tensor({0, 1}));
  metrics::F1 b = a;
  a.update(tensor({0, 0}), tensor({1, 1}));
  EXPECT_EQ(b.count(), 2);
  a.reset();
  EXPECT_EQ(b.count(), 2);
  EXPECT_EQ(b.value(), 1);
}

TEST(ConfusionMatrix, NumbersOfManyClassesNeedNoMatrix) {
  const int64_t classes = 100'000;
  const Tensor predictions = tensor({7, 99'999, 3, 3}), labels = tensor({7, 99'999, 5, 3});
  const int64_t before = memory_stats().live_bytes;
  metrics::F1 f1(classes);
  metrics::Precision precision(classes);
  metrics::Recall recall(classes);
  for (int i = 0; i < 2; ++i) {
    f1.update(predictions, labels), precision.update(predictions, labels), recall.update(predictions, labels);
  }
  EXPECT_LE(memory_stats().live_bytes - before, 3 * 4 * classes * 8);
  EXPECT_EQ(f1.count(), 8);
  // Of classes 3, 5, 7 and 99'999.
  EXPECT_DOUBLE_EQ(precision.value(), (0.5 + 0 + 1 + 1) / 4);
  EXPECT_DOUBLE_EQ(recall.value(), (1 + 0 + 1 + 1) / 4.0);
  EXPECT_DOUBLE_EQ(f1.value(), (2.0 / 3 + 0 + 1 + 1) / 4);
}

TEST(ConfusionMatrix, NumbersAreThoseOfTheMatrix) {
  manual_seed(4);
  const Tensor labels = randint(0, 1100, {500}),
               predictions = where(rand({500}) < 0.5, labels, randint(0, 1100, {500}));
  for (const auto average : {metrics::Average::macro, metrics::Average::weighted, metrics::Average::micro}) {
    const metrics::ClassOptions options = {.average = average, .ignore_index = 2};
    metrics::ConfusionMatrix matrix(1100, options);
    metrics::F1 f1(1100, options);
    for (int64_t i = 0; i < 500; i += 250) {
      matrix.update(narrow(predictions, 0, i, 250), narrow(labels, 0, i, 250));
      f1.update(narrow(predictions, 0, i, 250), narrow(labels, 0, i, 250));
    }
    EXPECT_EQ(f1.count(), matrix.count());
    EXPECT_EQ(f1.value(), matrix.f1());
    EXPECT_EQ(f1.precision(), matrix.precision());
    EXPECT_EQ(f1.recall(), matrix.recall());
    EXPECT_EQ(f1.accuracy(), matrix.accuracy());
    EXPECT_TRUE(equal(f1.precision_of_classes(), matrix.precision_of_classes()));
  }
}

TEST(ConfusionMatrix, Errors) {
  EXPECT_EQ(error_of([] { metrics::ConfusionMatrix(0); }),
            "ConfusionMatrix(): the number of classes must be 1 or more, not 0");
  metrics::ConfusionMatrix confusion(3);
  EXPECT_EQ(error_of([&] { confusion.update(kPredicted, kLabels); }),
            "ConfusionMatrix([8] i64, [8] i64): label 3 is out of range for 3 classes");
  EXPECT_EQ(error_of([&] { confusion.update(tensor({-1}), tensor({0})); }),
            "ConfusionMatrix([1] i64, [1] i64): prediction -1 is out of range for 3 classes");
  EXPECT_EQ(confusion.count(), 0);
  metrics::Recall recall(3);
  EXPECT_EQ(error_of([&] { recall.update(tensor({-1}), tensor({0})); }),
            "Recall([1] i64, [1] i64): prediction -1 is out of range for 3 classes");
  EXPECT_EQ(error_of([] { metrics::F1(0); }), "F1(): the number of classes must be 1 or more, not 0");
}

TEST(Perplexity, IsTheExponentialOfTheMeanLoss) {
  const Tensor logits = tensor({{2.0, 0.0, 1.0}, {0.0, 3.0, 0.0}, {1.0, 1.0, 1.0}}), targets = tensor({0, 2, 1});
  metrics::Perplexity perplexity({.ignore_index = -1});
  EXPECT_TRUE(std::isnan(perplexity.value()));
  perplexity.update(logits.slice(0, 0, 1), targets.slice(0, 0, 1));
  perplexity.update(logits.slice(0, 1), targets.slice(0, 1));
  perplexity.update(logits.slice(0, 0, 1), tensor({-1}));
  EXPECT_NEAR(perplexity.value(), std::exp(cross_entropy(logits.to(f64), targets).item<double>()), 1e-6);
  EXPECT_EQ(perplexity.count(), 3);
  EXPECT_THROW(perplexity.update(logits, tensor({0, 3, 1})), IndexError);
}

TEST(Perplexity, OfHalfPrecisionLogitsIsComputedInF32) {
  manual_seed(6);
  const Tensor logits = randn({50, 20}), targets = randint(0, 20, {50});
  for (const DType dtype : {bf16, f16, f64}) {
    const Tensor x = logits.to(dtype);
    metrics::Perplexity perplexity, expected;
    perplexity.update(x, targets);
    expected.update(x.to(f64), targets);
    EXPECT_NEAR(perplexity.value() / expected.value(), 1, 1e-6) << name_of(dtype);
  }
}

TEST(Mean, IsWeighted) {
  metrics::Mean mean;
  EXPECT_TRUE(std::isnan(mean.value()));
  mean.update(2, 3);
  mean.update(tensor({1.0, 4.0}));
  EXPECT_DOUBLE_EQ(mean.value(), 11.0 / 5);
  mean.update(NAN, 0);
  EXPECT_DOUBLE_EQ(mean.value(), 11.0 / 5);
  EXPECT_THROW(mean.update(1, -1), Error);
  EXPECT_THROW(mean.update(1, INFINITY), Error);
  mean.reset();
  EXPECT_DOUBLE_EQ(mean.weight(), 0);
}

}  // namespace
}  // namespace weft
