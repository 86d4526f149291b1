// Calibration of predicted probabilities.
#include "metrics/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor/all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

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
  EXPECT_EQ(
      error_of([&] { error.update(tensor({1.5}), tensor({1})); }),
      "CalibrationError([1] f32, [1] i64): the probability 1.5 is not in [0, 1]; of scores (logits), take softmax() "
      "or sigmoid() first");
  EXPECT_SAYS(error_of([&] { error.update(tensor({NAN}), tensor({1})); }), "the probability nan is not in [0, 1]");
  EXPECT_SAYS(error_of([&] {
                error.update(tensor({{0.5, -0.25}}), tensor({1}));
              }),
              "the probability -0.25 is not in [0, 1]");
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
