// What a training loop needs beside steps: steps that are skipped, groups that come later; and that each optimizer
// carries on exactly.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/grad_mode.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "tensor/autocast.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tests/optim/problem.h"
#include "tests/optim/refused.h"

namespace weft::optim {
namespace {

using Values = std::vector<double>;
using testing::wave;

TEST(SkipNonfinite, ChangesNothingButTheCount) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Tensor a = leaf({1, 2}), b = leaf({3});
    Adam optimizer({a, b});
    optimizer.skip_nonfinite();
    a.set_grad(ones({2}, f64));
    b.set_grad(full({1}, bad, f64));
    optimizer.step();
    EXPECT_EQ(optimizer.skipped(), 1);
    EXPECT_EQ(optimizer.steps(), 0);
    EXPECT_EQ(a.to_vector<double>(), (Values{1, 2}));
    EXPECT_TRUE(optimizer.state_dict().tensors.empty());
    b.set_grad(full({1}, 1e300, f64));
    optimizer.step();
    EXPECT_EQ(optimizer.skipped(), 1);
    EXPECT_EQ(optimizer.steps(), 1);
    Adam other({a, b});
    other.load_state_dict(optimizer.state_dict());
    EXPECT_EQ(other.skipped(), 1);
    optimizer.skip_nonfinite(false);
    b.set_grad(full({1}, bad, f64));
    optimizer.step();
    EXPECT_TRUE(std::isnan(b.item<double>()));
  }
}

TEST(AddGroup, InheritsFromTheOptions) {
  Tensor a = leaf({1}), b = leaf({1});
  AdamW optimizer({a}, {.lr = 0.5, .weight_decay = 0.25});
  optimizer.set_lr(0.125);
  optimizer.add_group({.parameters = {b}, .beta1 = 0.75});
  EXPECT_EQ(optimizer.group_count(), 2u);
  EXPECT_EQ(optimizer.lr(1), 0.5);
  EXPECT_EQ(optimizer.get("beta1", 1), 0.75);
  EXPECT_EQ(optimizer.get("weight_decay", 1), 0.25);
  EXPECT_REFUSED(optimizer.add_group({.parameters = {a}}), "AdamW(): the parameter `leaf` is given twice");
  EXPECT_REFUSED(optimizer.add_group({.parameters = {leaf({1})}, .lr = -1}), "AdamW(): lr must be 0 or more, not -1");
  EXPECT_EQ(optimizer.group_count(), 2u);
  b.set_grad(ones({1}, f64));
  optimizer.step();
  EXPECT_NE(b.item<double>(), 1);
}

TEST(State, WithNumbersThatCannotBeIsRefused) {
  Tensor a = leaf({1});
  LBFGS optimizer({a});
  const auto changed = [&](const char* key, double value) {
    State state = optimizer.state_dict();
    state.numbers[key] = value;
    return state;
  };
  EXPECT_REFUSED(optimizer.load_state_dict(changed("group.0.lr", -1)), "LBFGS(): lr must be 0 or more, not -1");
  EXPECT_REFUSED(optimizer.load_state_dict(changed("group.0.max_iter", 2.5)),
                 "LBFGS(): max_iter must be a whole number, not 2.5");
  EXPECT_REFUSED(optimizer.load_state_dict(changed("skipped", -1)), "LBFGS(): the state does not fit: skipped is -1");
  for (const auto& bad : {std::pair<double, const char*>{std::nan(""), "nan"}, {-3.0, "-3"}, {1.5, "1.5"}})
    for (const char* key : {"steps", "0.step", "lbfgs.iterations", "lbfgs.evaluations"})
      EXPECT_REFUSED(optimizer.load_state_dict(changed(key, bad.first)),
                     text("LBFGS(): the state does not fit: ", key, " is ", bad.second));
  Ema average({a}, 0.5);
  State counted = average.state_dict();
  counted.numbers["updates"] = 1.5;
  EXPECT_REFUSED(average.load_state_dict(counted),
                 "Average::load_state_dict(): the state does not fit: updates is 1.5");
  SGD sgd({a});
  StepLR schedule(sgd, {.every = 2});
  State state = schedule.state_dict();
  state.numbers["steps"] = 2.5;
  EXPECT_REFUSED(schedule.load_state_dict(state), "Schedule::load_state_dict(): the state does not fit: steps is 2.5");
  state.numbers["steps"] = std::nan("");
  EXPECT_REFUSED(schedule.load_state_dict(state), "Schedule::load_state_dict(): the state does not fit: steps is nan");
  ReduceOnPlateau plateau(sgd);
  state = plateau.state_dict();
  state.numbers["cooling"] = 1e300;
  EXPECT_REFUSED(plateau.load_state_dict(state),
                 "Schedule::load_state_dict(): the state does not fit: cooling is 1e+300");
  EarlyStopping stopping;
  state = stopping.state_dict();
  state.numbers["bad_steps"] = std::nan("");
  EXPECT_REFUSED(stopping.load_state_dict(state),
                 "EarlyStopping::load_state_dict(): the state does not fit: bad_steps is nan");
}

TEST(Muon, StepsInF32InAnAutocastScope) {
  const Tensor one = parameter(wave({9, 7}, 0.3).to(f32)), other = parameter(wave({9, 7}, 0.3).to(f32));
  Muon alone({one}), within({other});
  for (const Tensor& w : {one, other}) w.set_grad(wave({9, 7}, 0.7).to(f32));
  alone.step();
  const Autocast autocast(f16);
  within.step();
  EXPECT_TRUE(equal(one, other));
}

TEST(Muon, TakesMatricesOnly) {
  EXPECT_REFUSED(Muon({leaf({1, 2})}), "Muon(): takes matrices, not a parameter of shape [2]; give it to AdamW");
  Tensor w = parameter(zeros({3, 2}));  // a gradient of zeros stays one
  Muon optimizer({w});
  // One without elements has its state as well, which the optimizer takes back.
  Tensor none = parameter(zeros({0, 3}));
  none.set_grad(zeros({0, 3}));
  Muon of_none({none});
  of_none.step();
  of_none.load_state_dict(of_none.state_dict());
  w.set_grad(zeros({3, 2}));
  optimizer.step();
  EXPECT_TRUE(equal(w, zeros({3, 2})));
}

/// Into an optimizer that was made with the defaults.
template <class O, class Options> void expect_exact_resume(const Options& options) {
  const Problem one, two;
  O first({one.a}, options), second({two.a});
  for (int i = 0; i < 7; ++i) one.step(first);
  {
    const NoGrad guard;
    Tensor(two.a).copy_(one.a);
  }
  second.load_state_dict(first.state_dict());
  for (int i = 0; i < 7; ++i) {
    one.step(first);
    two.step(second);
  }
  EXPECT_TRUE(equal(one.a, two.a)) << first.to_string();
  EXPECT_EQ(first.to_string(), second.to_string());
}

TEST(Resume, IsExact) {
  expect_exact_resume<Adagrad>(AdagradOptions{.lr = 0.1, .lr_decay = 0.1, .initial_accumulator_value = 0.3});
  expect_exact_resume<Adadelta>(AdadeltaOptions{.rho = 0.8});
  expect_exact_resume<Adamax>(AdamaxOptions{.weight_decay = 0.1});
  expect_exact_resume<NAdam>(NAdamOptions{.momentum_decay = 0.1, .decoupled_weight_decay = true});
  expect_exact_resume<RAdam>(RAdamOptions{.beta2 = 0.9});
  expect_exact_resume<Lion>(LionOptions{.weight_decay = 0.1});
  expect_exact_resume<LAMB>(LAMBOptions{.lr = 0.01});
  expect_exact_resume<ASGD>(ASGDOptions{.t0 = 3});
  expect_exact_resume<Rprop>(RpropOptions{.eta_minus = 0.4});
  expect_exact_resume<Adafactor>(AdafactorOptions{.lr = 0.1, .weight_decay = 0.1});
  expect_exact_resume<Muon>(MuonOptions{.nesterov = false, .ns_steps = 4});
  expect_exact_resume<Muon>(MuonOptions{.bf16_iterations = true});
}

TEST(Resume, NeedsEveryStateOfAdafactor) {
  const Tensor matrix = parameter(ones({2, 3})), vector = parameter(ones({3}));
  Adafactor optimizer({matrix, vector}, {.lr = 0.1});
  for (const Tensor& w : {matrix, vector}) w.set_grad(ones(w.shape(), w.dtype()));
  optimizer.step();
  const State whole = optimizer.state_dict();
  for (const auto& [name, tensor] : whole.tensors) {
    State part = whole;
    part.tensors.erase(name);
    EXPECT_NE(error_of([&] { optimizer.load_state_dict(part); }).find("missing " + name), std::string::npos) << name;
  }
  EXPECT_EQ(whole.tensors.size(), 3u);
  optimizer.load_state_dict(whole);
}

/// f32 and bf16 follow f64, and a view in another memory order is f64's equal. Parameters stay below 1, so that each of
/// four roundings (of the start and of three steps) is off by up to 2^-25, and 2^-9 in bf16. The gradients' roundings,
/// relative to steps that sum to less than 0.4, are less than one more; f32 also rounds within a step, less than three.
template <class O, class Options> void expect_any_dtype_and_order(const Options& options) {
  const auto run = [&](const Tensor& start) {
    Tensor w = parameter(start.clone());
    O optimizer({w}, options);
    for (int i = 0; i < 3; ++i) {
      w.set_grad(wave(w.shape(), 0.5 + i).to(w.dtype()));
      optimizer.step();
    }
    return w.detach().to(f64);
  };
  const Tensor start = wave({4, 3}, 0.1), full = run(start);
  EXPECT_TRUE(allclose(run(start.t().contiguous().t()), full, 1e-13, 1e-13));
  EXPECT_TRUE(allclose(run(start.to(f32)), full, 0, 8 * 0x1p-25));
  EXPECT_TRUE(allclose(run(start.to(bf16)), full, 0, 5 * 0x1p-9));
  EXPECT_EQ(run(zeros({0, 3}, f64)).numel(), 0);
}

TEST(Optimizers, TakeAnyDtypeAndOrder) {
  expect_any_dtype_and_order<Adagrad>(AdagradOptions{.lr = 0.1});
  expect_any_dtype_and_order<Adadelta>(AdadeltaOptions{.eps = 1e-3});
  expect_any_dtype_and_order<Adamax>(AdamaxOptions{.lr = 0.05});
  expect_any_dtype_and_order<NAdam>(NAdamOptions{.lr = 0.05});
  expect_any_dtype_and_order<RAdam>(RAdamOptions{.lr = 0.05, .beta2 = 0.9});
  expect_any_dtype_and_order<Lion>(LionOptions{.lr = 0.01});
  expect_any_dtype_and_order<LAMB>(LAMBOptions{.lr = 0.02});
  expect_any_dtype_and_order<ASGD>(ASGDOptions{.lr = 0.1});
  expect_any_dtype_and_order<Rprop>(RpropOptions{});
  expect_any_dtype_and_order<Adafactor>(AdafactorOptions{.lr = 0.05});
}

TEST(Rprop, RefusesFactorsOnTheWrongSide) {
  EXPECT_REFUSED(Rprop({leaf({1})}, {.eta_plus = 0.9}), "Rprop(): eta_minus must be in (0, 1) and eta_plus above 1");
  EXPECT_REFUSED(Rprop({leaf({1})}, {.min_step = 2, .max_step = 1}), "Rprop(): min_step is above max_step");
  EXPECT_REFUSED(Adafactor({leaf({1})}, {.d = 0.5}), "Adafactor(): beta2_decay must be 0 or less, and d 1 or more");
}

}  // namespace
}  // namespace weft::optim
