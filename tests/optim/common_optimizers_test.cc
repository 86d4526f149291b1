// Trajectories of SGD, Adam, AdamW and RMSprop, and rates of common schedules, against PyTorch's, in f64.
// tests/golden/common_optimizers.py makes the values. Others: trajectory_test.cc and schedule_test.cc.
#include <gtest/gtest.h>

#include "optim/optim.h"
#include "tests/optim/common_optimizer_values.h"
#include "tests/optim/problem.h"

namespace weft::optim {
namespace {

using testing::expect_numbers;

void check(const std::string& name, const Problem& problem, Optimizer& optimizer) {
  std::vector<double> numbers;
  for (int step = 1; step <= 100; ++step) {
    problem.step(optimizer);
    if (step != 1 && step != 10 && step != 100) continue;
    problem.add_digests(numbers);
  }
  expect_numbers(numbers, kGolden.at(name), 1e-10, name);
  expect_states(name, optimizer, kGolden, 1e-10);
}

template <class O, class Options> void check(const std::string& name, const Options& options) {
  const Problem problem;
  O optimizer({problem.a, problem.b}, options);
  check(name, problem, optimizer);
}

TEST(CommonOptimizers, Sgd) {
  check<SGD>("sgd", SGDOptions{.lr = 0.1});
  check<SGD>("sgd_decay", SGDOptions{.lr = 0.1, .weight_decay = 0.05});
  check<SGD>("sgd_momentum", SGDOptions{.lr = 0.1, .momentum = 0.9});
  check<SGD>("sgd_dampening", SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.01});
  check<SGD>("sgd_nesterov", SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
  check<SGD>("sgd_maximize", SGDOptions{.lr = 0.01, .momentum = 0.5, .weight_decay = 0.1, .maximize = true});
}

TEST(CommonOptimizers, Adam) {
  check<Adam>("adam", AdamOptions{.lr = 0.05});
  check<Adam>("adam_decay", AdamOptions{.lr = 0.05, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.1});
  check<Adam>("adam_amsgrad", AdamOptions{.lr = 0.05, .weight_decay = 0.01, .amsgrad = true});
  check<Adam>("adam_maximize", AdamOptions{.lr = 0.001, .maximize = true});
  check<AdamW>("adamw", AdamWOptions{.lr = 0.05, .weight_decay = 0.1});
  check<AdamW>("adamw_betas", AdamWOptions{.lr = 0.02, .beta1 = 0.7, .beta2 = 0.9, .eps = 1e-3});
  check<AdamW>("adamw_maximize", AdamWOptions{.lr = 0.001, .weight_decay = 0.3, .maximize = true});
  check<AdamW>("adamw_amsgrad", AdamWOptions{.lr = 0.05, .amsgrad = true});
}

TEST(CommonOptimizers, RMSprop) {
  check<RMSprop>("rmsprop", RMSpropOptions{.lr = 0.01});
  check<RMSprop>("rmsprop_momentum", RMSpropOptions{.lr = 0.01, .alpha = 0.9, .momentum = 0.9});
  check<RMSprop>("rmsprop_centered", RMSpropOptions{.lr = 0.01, .weight_decay = 0.02, .centered = true});
  check<RMSprop>("rmsprop_all", RMSpropOptions{.lr = 0.005, .eps = 1e-4, .momentum = 0.5, .centered = true});
}

TEST(CommonOptimizers, Groups) {
  const Problem problem;
  SGD optimizer({{.parameters = {problem.a}, .weight_decay = 0.1}, {.parameters = {problem.b}, .lr = 0.3}},
                {.lr = 0.1, .momentum = 0.9});
  check("groups", problem, optimizer);
}

/// The rate (and, of a cycle, the momentum called `momentum`) at every third of 60 steps.
void check_rates(const std::string& name, Optimizer& optimizer, Schedule& schedule, const char* momentum = nullptr) {
  std::vector<double> numbers;
  for (int step = 0; step < 60; ++step) {
    if (step % 3 == 0) {
      numbers.push_back(optimizer.lr());
      if (momentum != nullptr) numbers.push_back(optimizer.get(momentum));
    }
    optimizer.step();
    schedule.step();
  }
  expect_numbers(numbers, kGolden.at(name), 1e-12, name);
}

template <class S, class Options> void check_schedule(const std::string& name, const Options& options) {
  Tensor w = parameter(zeros({1}));
  w.set_grad(zeros({1}));
  SGD optimizer({w}, {.lr = 0.4});
  S schedule(optimizer, options);
  check_rates(name, optimizer, schedule);
}

TEST(CommonOptimizers, Schedules) {
  check_schedule<StepLR>("step_lr", StepOptions{.every = 7, .gamma = 0.5});
  check_schedule<CosineAnnealingLR>("cosine", CosineOptions{.steps = 40, .min_lr = 0.01});
  check_schedule<LinearWarmup>("linear_warmup", WarmupOptions{.steps = 20});
  check_schedule<LinearWarmup>("warmup_cosine",
                               WarmupOptions{.steps = 10, .start_factor = 0.1, .then = cosine_curve({.steps = 50})});
}

TEST(CommonOptimizers, OneCycle) {
  Tensor w = parameter(zeros({1}));
  w.set_grad(zeros({1}));
  SGD sgd({w}, {.lr = 0.4, .momentum = 0.9});
  OneCycle cycle(sgd, {.max_lr = 1.0, .steps = 60});
  check_rates("one_cycle", sgd, cycle, "momentum");
  Adam adam({w}, {.lr = 0.4});
  OneCycle linear(
      adam,
      {.max_lr = 0.5, .steps = 60, .rising = 0.5, .anneal = Anneal::linear, .start_divisor = 10, .final_divisor = 100});
  check_rates("one_cycle_linear", adam, linear, "beta1");
}

}  // namespace
}  // namespace weft::optim
