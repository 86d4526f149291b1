// Learning rates as arguments: alone, and of one group.
#include <gtest/gtest.h>

#include <sstream>

#include "optim/optim.h"
#include "tensor/functions/fill.h"

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

}  // namespace
}  // namespace weft::optim
