// What a training loop needs beside steps: averages of weights, gradients of several batches, steps that are skipped,
// groups that come later; and that each optimizer carries on exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

Tensor leaf(const Values& values) { return parameter(from_vector(values, std::nullopt, f64)); }
void set(Tensor x, const Values& values) {
  const NoGrad guard;
  x.copy_(from_vector(values, std::nullopt, f64));
}

TEST(Ema, IsTheFormula) {
  Tensor w = leaf({1, 2});
  Ema average(std::vector<Tensor>{w}, 0.9);
  set(w, {10, 20});
  average.update();  // copies
  EXPECT_EQ(average.averages()[0].to_vector<double>(), (Values{10, 20}));
  set(w, {0, 10});
  average.update();
  EXPECT_TRUE(allclose(average.averages()[0], tensor({9.0, 19.0}, f64), 1e-15, 0));
  EXPECT_EQ(average.updates(), 2);
}

TEST(Swa, IsTheMean) {
  Tensor w = leaf({0});
  Swa average(std::vector<Tensor>{w});
  for (const double value : {1.0, 5.0, 9.0, 1.0}) {
    set(w, {value});
    average.update();
  }
  EXPECT_NEAR(average.averages()[0].item<double>(), 4, 1e-15);
}

TEST(Average, IsAppliedForAScope) {
  Tensor w = leaf({1});
  Ema average(std::vector<Tensor>{w}, 0.5);
  average.update();
  set(w, {3});
  {
    const auto averaged = average.applied();
    EXPECT_EQ(w.item<double>(), 1);
    EXPECT_TRUE(w.requires_grad() && w.is_leaf());
    EXPECT_REFUSED(average.update(), "update() of an average that is applied: the model holds the averages themselves");
    EXPECT_REFUSED(average.applied(), "this average is applied already");
  }
  EXPECT_EQ(w.item<double>(), 3);
  {
    const auto averaged = average.applied();
    EXPECT_REFUSED(average.copy_to_model(),
                   "copy_to_model() of an average that is applied: the end of its scope would undo it");
  }
  average.update();
  EXPECT_EQ(average.averages()[0].item<double>(), 2);
  average.copy_to_model();
  EXPECT_EQ(w.item<double>(), 2);
}

TEST(Average, OfAModel) {
  nn::Sequential model(nn::Linear(3, 2), nn::BatchNorm1d(2));
  Ema weights(model, 0.5), all(model, 0.5, {.buffers = true});
  EXPECT_EQ(weights.averages().size(), 4u);
  EXPECT_EQ(all.averages().size(), 6u);
  const std::vector<float> before = model.parameters()[0].to_vector<float>();
  weights.update();
  SGD optimizer(model.parameters(), {.lr = 0.1});
  sum(square(model(ones({4, 3})) - 1.0)).backward();
  optimizer.step();
  {
    auto averaged = weights.applied();
    EXPECT_EQ(model.parameters()[0].to_vector<float>(), before);
  }
  // Statistics of the averaged weights do not outlive the scope.
  const StateDict own = model.clone_state();
  for (Ema* average : {&weights, &all}) {
    auto averaged = average->applied();
    model(wave({4, 3}, 0.1).to(f32));
    EXPECT_FALSE(equal(model.get_buffer("1.running_mean"), own.at("1.running_mean")));
  }
  for (const auto& [name, value] : model.state_dict()) EXPECT_TRUE(equal(value, own.at(name))) << name;
  model.to(f64);
  weights.update();
  EXPECT_EQ(weights.averages()[0].dtype(), f64);
}

TEST(Average, CarriesOn) {
  Tensor a = leaf({1}), b = leaf({7});
  Ema first(std::vector<Tensor>{a}, 0.5), second(std::vector<Tensor>{b}, 0.5);
  first.update();
  second.load_state_dict(first.state_dict());
  EXPECT_EQ(second.updates(), 1);
  EXPECT_EQ(second.averages()[0].item<double>(), 1);
  EXPECT_REFUSED(second.load_state_dict({}), "the state of this average lacks updates");
  State other = first.state_dict();
  other.tensors["average.0"] = zeros({3});
  EXPECT_REFUSED(second.load_state_dict(other), "average.0 has shape [3] instead of [1]");
  EXPECT_REFUSED(Ema(std::vector<Tensor>{a}, 1.5), "Ema(): decay must be in [0, 1], not 1.5");
  EXPECT_REFUSED(Swa(std::vector<Tensor>{}),
                 "an average of no parameters: was register_module() forgotten in the model?");
}

TEST(Accumulate, IsOneStepOfTheMean) {
  const Problem one, parts;
  SGD whole({one.a, one.b}, {.lr = 0.1}), part({parts.a, parts.b}, {.lr = 0.1});
  const auto loss = [](const Problem& p, int64_t from, int64_t count) {
    return mean(square(tanh(matmul(p.x.narrow(0, from, count), p.a) + p.b) - p.y.narrow(0, from, count)));
  };
  Accumulate accumulate(part, 2);
  int before = 0;
  accumulate.on_step([&] { ++before; });
  for (int i = 0; i < 3; ++i) {
    whole.zero_grad();
    loss(one, 0, 4).backward();
    whole.step();
    EXPECT_FALSE(accumulate.backward(loss(parts, 0, 2)));
    EXPECT_EQ(accumulate.waiting(), 1);
    EXPECT_TRUE(accumulate.backward(loss(parts, 2, 2)));
  }
  EXPECT_TRUE(allclose(one.a, parts.a, 1e-14, 1e-14));
  EXPECT_EQ(part.steps(), 3);
  EXPECT_EQ(before, 3);
  EXPECT_FALSE(accumulate.flush());
  accumulate.backward(loss(parts, 0, 2));
  EXPECT_TRUE(accumulate.flush());
  EXPECT_EQ(part.steps(), 4);
  EXPECT_REFUSED(Accumulate(part, 0), "Accumulate(): batches must be 1 or more, not 0");
}

TEST(Accumulate, ScalesTheLoss) {
  const Tensor a = leaf({1, 2}), b = leaf({1, 2});
  SGD plain({a}, {.lr = 0.1}), scaled({b}, {.lr = 0.1});
  GradScaler scaler({.init_scale = 1024, .growth_interval = 1});
  Accumulate one(plain, 2), other(scaled, 2, scaler);
  Tensor seen;
  other.on_step([&] { seen = b.grad().clone(); });
  for (int i = 0; i < 4; ++i) {
    one.backward(sum(square(a)));
    other.backward(sum(square(b)));
    if (i == 0) {
      EXPECT_TRUE(equal(b.grad(), a.grad() * 1024.0));
    }
  }
  EXPECT_TRUE(equal(a, b));
  EXPECT_TRUE(allclose(seen, b.detach() * 2.5)) << "the gradient at the last step, where b was 1.25 times as large";
  EXPECT_EQ(scaler.get_scale(), 4096);
  const Tensor before = b.detach().clone();
  other.backward(sum(b * HUGE_VAL));
  other.backward(sum(b));
  EXPECT_TRUE(equal(b, before));
  EXPECT_EQ(scaler.skipped(), 1);
}

TEST(Accumulate, AFailedStepDiscardsTheBatches) {
  const Tensor a = leaf({1, 2});
  SGD optimizer({a}, {.lr = 0.1});
  GradScaler scaler({.init_scale = 1024});
  for (const bool scaled : {false, true}) {
    Accumulate accumulate = scaled ? Accumulate(optimizer, 2, scaler) : Accumulate(optimizer, 2);
    bool fails = true;
    accumulate.on_step([&] {
      if (fails) throw Error("not now");
    });
    const int64_t before = optimizer.steps();
    EXPECT_FALSE(accumulate.backward(sum(square(a))));
    EXPECT_REFUSED(accumulate.backward(sum(square(a))), "not now");
    EXPECT_EQ(accumulate.waiting(), 0);
    EXPECT_FALSE(a.grad().defined());
    fails = false;
    EXPECT_FALSE(accumulate.backward(sum(square(a))));
    EXPECT_TRUE(accumulate.backward(sum(square(a))));
    EXPECT_EQ(optimizer.steps(), before + 1);
  }
}

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
  EXPECT_REFUSED(average.load_state_dict(counted), "the state of this average has updates 1.5");
  SGD sgd({a});
  StepLR schedule(sgd, {.every = 2});
  State state = schedule.state_dict();
  state.numbers["steps"] = 2.5;
  EXPECT_REFUSED(schedule.load_state_dict(state), "the state of this schedule has steps 2.5");
  state.numbers["steps"] = std::nan("");
  EXPECT_REFUSED(schedule.load_state_dict(state), "the state of this schedule has steps nan");
  ReduceOnPlateau plateau(sgd);
  state = plateau.state_dict();
  state.numbers["cooling"] = 1e300;
  EXPECT_REFUSED(plateau.load_state_dict(state), "the state does not fit: cooling is 1e+300");
  EarlyStopping stopping;
  state = stopping.state_dict();
  state.numbers["bad_steps"] = std::nan("");
  EXPECT_REFUSED(stopping.load_state_dict(state), "the state does not fit: bad_steps is nan");
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

TEST(Average, OfSixteenBitsIsF32) {
  Tensor w = parameter(full({1}, 0.5, bf16));
  Ema average(std::vector<Tensor>{w}, 0.999);
  Swa mean(std::vector<Tensor>{w});
  average.update();
  for (int i = 0; i < 2000; ++i) {
    NoGrad guard;
    w.fill_(i < 1000 ? 0.5 : 1.0);
    average.update();
    mean.update();
  }
  EXPECT_EQ(average.averages()[0].dtype(), f32);
  EXPECT_NEAR(average.averages()[0].item<double>(), 1 - 0.5 * std::pow(0.999, 1000), 1e-4);
  EXPECT_NEAR(mean.averages()[0].item<double>(), 0.75, 1e-4);
  average.copy_to_model();
  EXPECT_EQ(w.dtype(), bf16);
}

}  // namespace
}  // namespace weft::optim
