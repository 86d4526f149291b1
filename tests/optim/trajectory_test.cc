// Trajectories of the optimizers beside SGD, Adam and RMSprop in f64: against PyTorch's, and of Lion, LAMB and Muon
// against the papers' formulas. tests/golden/optimizers.py makes the values.
#include <gtest/gtest.h>

#include "optim/optim.h"
#include "tests/optim/optimizer_values.h"
#include "tests/optim/problem.h"

namespace weft::optim {
namespace {

/// 25 of `step`.
template <class F> void check(const std::string& name, const Problem& problem, const F& step, double tolerance = 1e-9) {
  std::vector<double> numbers;
  for (int i = 1; i <= 25; ++i) {
    step();
    if (i == 1 || i == 10 || i == 25) problem.add_digests(numbers);
  }
  testing::expect_numbers(numbers, kTrajectories.at(name), tolerance, name);
}

template <class O, class Options> void check(const std::string& name, const Options& options) {
  const Problem problem;
  O optimizer({problem.a, problem.b}, options);
  check(name, problem, [&] { problem.step(optimizer); });
  expect_states(name, optimizer, kTrajectories, 1e-9);
}

TEST(Trajectory, Adagrad) {
  check<Adagrad>("adagrad", AdagradOptions{.lr = 0.1});
  check<Adagrad>("adagrad_decay", AdagradOptions{.lr = 0.1, .lr_decay = 0.1, .weight_decay = 0.05});
  check<Adagrad>("adagrad_initial", AdagradOptions{.lr = 0.3, .initial_accumulator_value = 0.2, .eps = 1e-3});
  check<Adagrad>("adagrad_maximize", AdagradOptions{.lr = 0.01, .maximize = true});
}

TEST(Trajectory, Adadelta) {
  check<Adadelta>("adadelta", AdadeltaOptions{});
  check<Adadelta>("adadelta_rho", AdadeltaOptions{.lr = 0.5, .rho = 0.7, .eps = 1e-3});
  check<Adadelta>("adadelta_decay", AdadeltaOptions{.lr = 2.0, .weight_decay = 0.1});
  check<Adadelta>("adadelta_maximize", AdadeltaOptions{.lr = 0.1, .maximize = true});
}

TEST(Trajectory, Adamax) {
  check<Adamax>("adamax", AdamaxOptions{.lr = 0.05});
  check<Adamax>("adamax_betas", AdamaxOptions{.lr = 0.05, .beta1 = 0.7, .beta2 = 0.9, .eps = 1e-3});
  check<Adamax>("adamax_decay", AdamaxOptions{.lr = 0.02, .weight_decay = 0.2});
  check<Adamax>("adamax_maximize", AdamaxOptions{.lr = 0.005, .maximize = true});
}

TEST(Trajectory, NAdam) {
  check<NAdam>("nadam", NAdamOptions{.lr = 0.05});
  check<NAdam>("nadam_betas",
               NAdamOptions{.lr = 0.05, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .momentum_decay = 0.05});
  check<NAdam>("nadam_decay", NAdamOptions{.lr = 0.02, .weight_decay = 0.1});
  check<NAdam>("nadam_decoupled", NAdamOptions{.lr = 0.02, .weight_decay = 0.1, .decoupled_weight_decay = true});
  check<NAdam>("nadam_maximize", NAdamOptions{.lr = 0.005, .maximize = true});
}

TEST(Trajectory, RAdam) {
  check<RAdam>("radam", RAdamOptions{.lr = 0.05});
  check<RAdam>("radam_betas", RAdamOptions{.lr = 0.05, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-3});
  check<RAdam>("radam_decay", RAdamOptions{.lr = 0.02, .weight_decay = 0.1});
  check<RAdam>("radam_decoupled", RAdamOptions{.lr = 0.02, .weight_decay = 0.1, .decoupled_weight_decay = true});
  check<RAdam>("radam_maximize", RAdamOptions{.lr = 0.005, .maximize = true});
}

TEST(Trajectory, ASGD) {
  check<ASGD>("asgd", ASGDOptions{.lr = 0.1});
  check<ASGD>("asgd_lambd", ASGDOptions{.lr = 0.1, .lambd = 0.1, .alpha = 0.5});
  check<ASGD>("asgd_decay", ASGDOptions{.lr = 0.2, .t0 = 5, .weight_decay = 0.1});
  check<ASGD>("asgd_maximize", ASGDOptions{.lr = 0.01, .maximize = true});
}

TEST(Trajectory, Rprop) {
  check<Rprop>("rprop", RpropOptions{});
  check<Rprop>("rprop_etas", RpropOptions{.lr = 0.05, .eta_minus = 0.3, .eta_plus = 1.5});
  check<Rprop>("rprop_sizes", RpropOptions{.lr = 0.05, .min_step = 1e-3, .max_step = 0.08});
  check<Rprop>("rprop_maximize", RpropOptions{.lr = 0.001, .max_step = 0.01, .maximize = true});
}

TEST(Trajectory, Adafactor) {
  check<Adafactor>("adafactor", AdafactorOptions{.lr = 0.1});
  check<Adafactor>("adafactor_decay", AdafactorOptions{.lr = 0.05, .beta2_decay = -0.5, .weight_decay = 0.1});
  check<Adafactor>("adafactor_d", AdafactorOptions{.lr = 0.2, .eps1 = 1e-3, .eps2 = 0.1, .d = 1.5});
  check<Adafactor>("adafactor_maximize", AdafactorOptions{.lr = 0.01, .maximize = true});
}

TEST(Trajectory, Lion) {
  check<Lion>("lion", LionOptions{.lr = 0.01});
  check<Lion>("lion_betas", LionOptions{.lr = 0.02, .beta1 = 0.8, .beta2 = 0.9});
  check<Lion>("lion_decay", LionOptions{.lr = 0.01, .weight_decay = 0.5});
  check<Lion>("lion_maximize", LionOptions{.lr = 0.002, .maximize = true});
}

TEST(Trajectory, LAMB) {
  check<LAMB>("lamb", LAMBOptions{.lr = 0.01});
  check<LAMB>("lamb_betas", LAMBOptions{.lr = 0.02, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3});
  check<LAMB>("lamb_decay", LAMBOptions{.lr = 0.01, .weight_decay = 0.3});
  check<LAMB>("lamb_maximize", LAMBOptions{.lr = 0.001, .weight_decay = 0, .maximize = true});
}

void check_muon(const std::string& name, const MuonOptions& options) {
  const Problem problem;
  Muon optimizer({problem.a}, options);
  check(name, problem, [&] { problem.step(optimizer); });
  expect_states(name, optimizer, kTrajectories, 1e-9);
}

TEST(Trajectory, Muon) {
  check_muon("muon", {.lr = 0.02});
  check_muon("muon_plain", {.lr = 0.05, .weight_decay = 0, .momentum = 0.8, .nesterov = false, .ns_steps = 3});
  check_muon("muon_match", {.lr = 0.05, .weight_decay = 0.5, .match_rms_adamw = true});
  check_muon("muon_maximize", {.lr = 0.002, .maximize = true});
}

// PyTorch's iteration in bf16, whose roundings fall elsewhere.
TEST(Trajectory, MuonInBf16) {
  const auto check_rounded = [](const std::string& name, const MuonOptions& options) {
    const Problem problem;
    Muon optimizer({problem.a}, options);
    check(
        name, problem, [&] { problem.step(optimizer); }, 0.01);
    expect_states(name, optimizer, kTrajectories, 0.01);
  };
  check_rounded("muon_bf16", {.lr = 0.02, .bf16_iterations = true});
  check_rounded("muon_bf16_match", {.lr = 0.05, .weight_decay = 0.5, .match_rms_adamw = true, .bf16_iterations = true});
}

void check_lbfgs(const std::string& name, const LBFGSOptions& options) {
  const Problem problem{.ridge = 0.01};
  LBFGS optimizer({problem.a, problem.b}, options);
  check(name, problem, [&] { optimizer.step([&] { return problem.backward(optimizer); }); });
}

TEST(Trajectory, LBFGS) {
  check_lbfgs("lbfgs", {.lr = 0.3, .max_iter = 2});
  check_lbfgs("lbfgs_history", {.lr = 0.5, .max_iter = 3, .history_size = 2});
  check_lbfgs("lbfgs_search", {.max_iter = 2, .line_search = true});
  check_lbfgs("lbfgs_search_long", {.lr = 3.0, .max_iter = 4, .history_size = 3, .line_search = true});
}

}  // namespace
}  // namespace weft::optim
