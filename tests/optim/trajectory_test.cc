// Trajectories of the optimizers beside SGD, Adam and RMSprop in f64: against PyTorch's, and of Lion, LAMB and Muon
// against the papers' formulas. tests/golden/optimizers.py makes the values.
#include <gtest/gtest.h>

#include <cmath>

#include "optim/line_search.h"
#include "optim/optim.h"
#include "tensor/functions/compare.h"
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

LinePoint wave_line(double x, double a, double b, double w, double p) {
  return {x, a * (x - b) * (x - b) + std::sin(w * x + p), 2 * a * (x - b) + w * std::cos(w * x + p), {}};
}

/// Falls by 1e-5 at once; then less than a step must fall.
LinePoint dent(double x) {
  const double rest = std::exp(-x / 1e-5);
  return {x, -1e-5 * (1 - rest) + 1e-5 * (x - 0.4) * (x - 0.4), -rest + 2e-5 * (x - 0.4), {}};
}

TEST(Trajectory, LineSearch) {
  const auto check = [](const std::string& name, LinePoint (*at)(double), double first, int64_t most) {
    double evaluations = 0;
    const auto counted = [&](double x) { return ++evaluations, at(x); };
    const LinePoint found = strong_wolfe(counted, at(0), first, 1e-9, most);
    testing::expect_numbers({found.length, found.loss, evaluations}, kTrajectories.at(name), 1e-6, name);
  };
  const auto wave = [](double x) { return wave_line(x, 0.5, 3, 3, 0.5); };
  check("line_ends", wave, 0.1, 3);  // before there are two points around a minimum
  check("line_none", wave, 0.1, 0);
  check(
      "line_upper", [](double x) { return wave_line(x, 0.75, 3.1, 6.5, 0.95); }, 0.82, 2);  // moved off an end
  check(
      "line_lower", [](double x) { return wave_line(x, 1.8, 5.5, 19.4, 5.8); }, 9.86, 3);
  for (const int64_t most : {2, 4, 25}) check(text("line_dent_", most), dent, 1, most);  // the ends are exchanged
}

/// The second group's options are `change` of the first's: the trajectories are those of two optimizers.
template <class O, class Group, class Options, class Change>
void check_groups(const Options& options, const Change& change) {
  Options changed = options;
  change(changed);
  const Problem together, apart;
  Group second{.parameters = {together.b}};
  change(second);
  O groups({Group{.parameters = {together.a}}, second}, options), a({apart.a}, options), b({apart.b}, changed);
  for (int step = 0; step < 5; ++step) {
    together.step(groups);
    b.zero_grad();
    apart.backward(a);
    a.step(), b.step();
  }
  EXPECT_TRUE(equal(together.a, apart.a) && equal(together.b, apart.b)) << groups.to_string();
}

TEST(Trajectory, Groups) {
  const auto slow = [](auto& o) { o.lr = 0.003; };
  check_groups<Adadelta, AdadeltaGroup>(AdadeltaOptions{.rho = 0.8}, [](auto& o) { o.rho = 0.7; });
  check_groups<Adafactor, AdafactorGroup>(AdafactorOptions{}, slow);
  check_groups<Adagrad, AdagradGroup>(AdagradOptions{.lr = 0.1}, [](auto& o) { o.initial_accumulator_value = 0.2; });
  check_groups<Adamax, AdamaxGroup>(AdamaxOptions{.beta1 = 0.8}, [](auto& o) { o.beta2 = 0.9; });
  check_groups<ASGD, ASGDGroup>(ASGDOptions{.lr = 0.1}, slow);
  check_groups<LAMB, LAMBGroup>(LAMBOptions{.weight_decay = 0.1}, slow);
  check_groups<Lion, LionGroup>(LionOptions{.lr = 0.01}, slow);
  check_groups<NAdam, NAdamGroup>(NAdamOptions{.lr = 0.01}, [](auto& o) { o.beta2 = 0.9; });
  check_groups<RAdam, RAdamGroup>(RAdamOptions{.lr = 0.01}, slow);
  check_groups<Rprop, RpropGroup>(RpropOptions{.lr = 0.02}, slow);
  const Tensor one = parameter(testing::wave({3, 4}, 0.1)), two = parameter(testing::wave({3, 4}, 0.1));
  const MuonGroup fast{.parameters = {two}, .lr = 0.1};
  Muon muon({{.parameters = {one}}, fast}, {.lr = 0.02});
  for (const Tensor& w : {one, two}) w.set_grad(ones({3, 4}, f64));
  muon.step();
  EXPECT_GT(max(abs(two - one)).item<double>(), 0.01) << muon.to_string();
}

}  // namespace
}  // namespace weft::optim
