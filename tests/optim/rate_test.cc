// Learning rates as arguments: alone, and of one group; and what schedules take by position.
#include <gtest/gtest.h>

#include <sstream>

#include "optim/optim.h"
#include "tensor/functions/fill.h"
#include "tests/optim/rates.h"
#include "tests/optim/refused.h"

namespace weft::optim {
namespace {

template <class O> void expect_learning_rate_by_position() {
  const Tensor w = ones({2, 2}).requires_grad_();
  std::ostringstream alone, named;
  alone << O({w}, 0.25);
  named << O({w}, {.lr = 0.25});
  EXPECT_EQ(alone.str(), named.str());
}

template <class... O> void expect_learning_rates_by_position() { (expect_learning_rate_by_position<O>(), ...); }

template <class... A>
concept SetsRate = requires(Optimizer& optimizer, A... arguments) {
  optimizer.set_lr(arguments...);
};

TEST(Rate, ComesBeforeTheGroup) {
  static_assert(SetsRate<double> && SetsRate<double, int> && SetsRate<float, size_t>);
  static_assert(!SetsRate<int, double> && !SetsRate<int, int>);
}

TEST(Rate, IsTakenAlone) {
  expect_learning_rates_by_position<SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam, ASGD, Rprop>();
  expect_learning_rates_by_position<LBFGS, Lion, LAMB, Adafactor, Muon>();
}

/// 6 rates of an S made of `arguments`, which are by position or one struct of options.
template <class S, class... Arguments> std::vector<double> rates_of(const Arguments&... arguments) {
  SGD optimizer({weight()}, {.lr = 1});
  S schedule(optimizer, arguments...);
  std::vector<double> out = {optimizer.lr()};
  for (int i = 0; i < 5; ++i) {
    optimizer.step();
    schedule.step();
    out.push_back(optimizer.lr());
  }
  return out;
}

TEST(Schedule, TakesWhatHasNoDefaultByPosition) {
  EXPECT_EQ(rates_of<StepLR>(2), rates_of<StepLR>(StepOptions{.every = 2}));
  EXPECT_EQ(rates_of<StepLR>(2, 0.5), (std::vector{1.0, 1.0, 0.5, 0.5, 0.25, 0.25}));
  EXPECT_EQ(rates_of<ExponentialLR>(0.9), rates_of<ExponentialLR>(ExponentialOptions{.gamma = 0.9}));
  EXPECT_EQ(rates_of<CosineAnnealingLR>(5), rates_of<CosineAnnealingLR>(CosineOptions{.steps = 5}));
  EXPECT_EQ(rates_of<CosineAnnealingLR>(5, 0.1), rates_of<CosineAnnealingLR>(CosineOptions{.steps = 5, .min_lr = 0.1}));
  EXPECT_EQ(rates_of<CosineWarmRestarts>(2, 3, 0.1),
            rates_of<CosineWarmRestarts>(WarmRestartsOptions{.period = 2, .multiplier = 3, .min_lr = 0.1}));
}

TEST(Schedule, RefusesBadArgumentsByPosition) {
  SGD optimizer({weight()}, {.lr = 1});
  EXPECT_REFUSED(StepLR(optimizer, -3), "StepLR(): every must be 1 or more, not -3");
  EXPECT_REFUSED(ExponentialLR(optimizer, 0), "ExponentialLR(): gamma must be positive, not 0 (was it left out?)");
}

}  // namespace
}  // namespace weft::optim
