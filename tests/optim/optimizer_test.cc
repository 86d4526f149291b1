// Optimizers: groups, unused parameters, state, casts, memory layouts, what they refuse.
#include "optim/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/leaf.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tests/error_of.h"
#include "tests/wave.h"

namespace weft::optim {
namespace {

using testing::wave;
using Names = std::vector<std::string>;

struct Net : nn::Module {
  nn::Linear used = register_module("used", nn::Linear(3, 2));
  nn::Linear other = register_module("other", nn::Linear(3, 2));
  Tensor forward(const Tensor& x) { return used(x); }
};

void step(Net& net, Optimizer& optimizer) {
  optimizer.zero_grad();
  sum(square(net.forward(ones({4, 3}, net.used.weight().dtype())))).backward();
  optimizer.step();
}

TEST(Optimizer, SkipsAndNamesTheUnused) {
  Net net;
  AdamW optimizer(net.parameters(), {.lr = 0.1});
  EXPECT_EQ(optimizer.unused().size(), 4u);
  const std::vector<float> before = net.other.weight().to_vector<float>();
  ::testing::internal::CaptureStderr();
  step(net, optimizer);
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_SAYS(warning, "AdamW: 2 parameters received no gradient in the first step: other.weight, other.bias");
  EXPECT_EQ(optimizer.unused(), (Names{"other.weight", "other.bias"}));
  EXPECT_EQ(net.other.weight().to_vector<float>(), before);
  ::testing::internal::CaptureStderr();
  step(net, optimizer);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(optimizer.steps(), 2);
}

TEST(Optimizer, GroupsInheritAndChange) {
  Net net;
  Adam optimizer(
      {{.parameters = net.used.parameters(), .beta1 = 0.5}, {.parameters = net.other.parameters(), .lr = 0.3}},
      {.lr = 0.1, .weight_decay = 0.2});
  EXPECT_EQ(optimizer.group_count(), 2u);
  EXPECT_EQ(optimizer.lr(0), 0.1);
  EXPECT_EQ(optimizer.lr(1), 0.3);
  EXPECT_EQ(optimizer.get("beta1", 0), 0.5);
  EXPECT_EQ(optimizer.get("beta1", 1), 0.9);
  EXPECT_EQ(optimizer.get("weight_decay", 1), 0.2);
  optimizer.set_lr(0.7, 1);
  EXPECT_EQ(optimizer.lr(0), 0.1);
  EXPECT_EQ(optimizer.lr(1), 0.7);
  optimizer.set_lr(0.01);
  EXPECT_EQ(optimizer.lr(0) + optimizer.lr(1), 0.02);
  EXPECT_EQ(optimizer.parameters().size(), 4u);
  EXPECT_TRUE(optimizer.has("eps") && !optimizer.has("momentum"));
  EXPECT_SAYS(error_of([&] { (void)optimizer.get("momentum"); }), "Adam has no `momentum`");
  EXPECT_THROW((void)optimizer.lr(2), IndexError);
  EXPECT_THROW(optimizer.set_lr(-1), Error);
}

TEST(Optimizer, RefusesBadParametersAndOptions) {
  const Tensor w = parameter(ones({2}));
  EXPECT_SAYS(error_of([&] { SGD({w, w}); }), "given twice");
  EXPECT_SAYS(error_of([&] { SGD({{.parameters = {w}}, {.parameters = {w}}}); }), "given twice");
  EXPECT_SAYS(error_of([&] { SGD({w * 2.0}); }), "is not a parameter");
  EXPECT_SAYS(error_of([&] { SGD({ones({2})}); }), "is not a parameter");
  EXPECT_SAYS(error_of([&] { SGD({Tensor()}); }), "undefined");
  EXPECT_SAYS(error_of([&] { SGD({w}, {.lr = -1}); }), "lr must be 0 or more, not -1");
  EXPECT_SAYS(error_of([&] { SGD({w}, {.nesterov = true}); }), "nesterov needs momentum");
  EXPECT_SAYS(error_of([&] { Adam({w}, {.beta1 = 1}); }), "beta1 must be in [0, 1)");
  EXPECT_SAYS(error_of([&] { RMSprop({w}, {.alpha = -0.1}); }), "alpha must be in [0, 1)");
}

TEST(Optimizer, WithoutParametersIsAnError) {
  struct Forgetful : nn::Module {
    nn::Linear layer{3, 2};  // not registered
  } net;
  EXPECT_SAYS(error_of([&] { SGD(net.parameters(), {.lr = 0.1}); }),
              "SGD(): no parameters: was register_module() or register_parameter() forgotten in the model?");
  EXPECT_SAYS(error_of([&] { Adam(net.parameters()); }), "Adam(): no parameters");
  EXPECT_SAYS(error_of([&] { AdamW(std::vector<AdamGroup>{}); }), "AdamW(): no parameters");
  EXPECT_SAYS(error_of([&] { RMSprop({{.parameters = net.parameters()}, {.parameters = {}}}); }), "no parameters");
  SGD optimizer({{.parameters = net.layer.parameters()}, {.parameters = {}, .lr = 0.5}});  // one group may be empty
  EXPECT_EQ(optimizer.group_count(), 2u);
}

TEST(Optimizer, ChangesAreCheckedAsOptionsAre) {
  const Tensor w = parameter(ones({2}));
  Adam adam({w});
  EXPECT_SAYS(error_of([&] { adam.set("beta1", 1.5); }), "Adam(): beta1 must be in [0, 1), not 1.5");
  EXPECT_SAYS(error_of([&] { adam.set("eps", std::nan("")); }), "eps must be a number");
  EXPECT_EQ(adam.get("beta1"), 0.9);
  SGD sgd({w}, {.momentum = 0.9, .nesterov = true});
  EXPECT_SAYS(error_of([&] { sgd.set("momentum", 0); }), "momentum cannot become 0: nesterov needs momentum");
  EXPECT_EQ(sgd.get("momentum"), 0.9);
  const Tensor a = parameter(ones({2})), b = parameter(ones({2}));
  SGD both({{.parameters = {a}}, {.parameters = {b}, .nesterov = true}}, {.momentum = 0.9});
  EXPECT_SAYS(error_of([&] { both.set("momentum", 0); }), "momentum cannot become 0: nesterov needs momentum");
  EXPECT_EQ(both.get("momentum", 0), 0.9) << "what the second group refuses, no group takes";
}

TEST(Optimizer, PrintsItsNumbers) {
  const Tensor a = parameter(ones({2})), b = parameter(ones({3}));
  EXPECT_EQ(SGD({a}, {.lr = 0.5, .momentum = 0.9, .nesterov = true}).to_string(),
            "SGD(lr=0.5, momentum=0.9, dampening=0, weight_decay=0, nesterov=true, maximize=false)");
  const AdamW groups({{.parameters = {a}}, {.parameters = {b}, .lr = 0.25, .amsgrad = true}}, {.beta2 = 0.5});
  EXPECT_EQ(groups.to_string(),
            "AdamW([lr=0.001, beta1=0.9, beta2=0.5, eps=1e-08, weight_decay=0.01, amsgrad=false, maximize=false], "
            "[lr=0.25, beta1=0.9, beta2=0.5, eps=1e-08, weight_decay=0.01, amsgrad=true, maximize=false])");
}

// The keys of files that were written before are part of the format.
TEST(Optimizer, KeysOfTheStateStay) {
  const Tensor w = parameter(ones({2}));
  const auto numbers_of = [](const Optimizer& optimizer) {
    Names names;
    for (const auto& [name, value] : optimizer.state_dict().numbers) names.push_back(name);
    return names;
  };
  EXPECT_EQ(numbers_of(SGD({w})), (Names{"0.step", "group.0.dampening", "group.0.lr", "group.0.maximize",
                                         "group.0.momentum", "group.0.nesterov", "group.0.weight_decay", "steps"}));
  EXPECT_EQ(numbers_of(AdamW({w})), (Names{"0.step", "group.0.amsgrad", "group.0.beta1", "group.0.beta2", "group.0.eps",
                                           "group.0.lr", "group.0.maximize", "group.0.weight_decay", "steps"}));
  EXPECT_EQ(numbers_of(RMSprop({w})), (Names{"0.step", "group.0.alpha", "group.0.centered", "group.0.eps", "group.0.lr",
                                             "group.0.maximize", "group.0.momentum", "group.0.weight_decay", "steps"}));
  State state;
  state.numbers = {{"0.step", 3},           {"group.0.amsgrad", 1},      {"group.0.beta1", 0.5},
                   {"group.0.beta2", 0.75}, {"group.0.eps", 0.1},        {"group.0.lr", 0.25},
                   {"group.0.maximize", 0}, {"group.0.weight_decay", 0}, {"steps", 4}};
  state.tensors = {{"0.exp_avg", ones({2})}, {"0.exp_avg_sq", ones({2})}, {"0.max_exp_avg_sq", ones({2})}};
  Adam adam({w});
  adam.load_state_dict(state);
  EXPECT_EQ(adam.state_dict().numbers, state.numbers);
  EXPECT_EQ(adam.state_dict().tensors.size(), 3u);
}

TEST(Optimizer, RaisesTheVersion) {
  Tensor w = parameter(ones({2}));
  SGD optimizer({w}, {.lr = 0.5});
  w.set_grad(ones({2}));
  const uint64_t version = internal::storage(w).version();
  optimizer.step();
  EXPECT_GT(internal::storage(w).version(), version);
  EXPECT_STREQ(internal::storage(w).writer(), "SGD");
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{0.5, 0.5}));
  EXPECT_TRUE(w.requires_grad() && w.is_leaf());
}

// The same steps whatever the memory order of parameter and gradient.
template <class O, class Options> void expect_layout_free(const Options& options) {
  Tensor plain = parameter(wave({4, 3}, 0.1));
  Tensor turned = parameter(wave({4, 3}, 0.1).t().contiguous().t());
  O first({plain}, options), second({turned}, options);
  for (int i = 0; i < 3; ++i) {
    const Tensor gradient = wave({4, 3}, 0.5 + i);
    plain.set_grad(gradient);
    turned.set_grad(i == 1 ? gradient.t().contiguous().t() : gradient);
    first.step();
    second.step();
  }
  EXPECT_TRUE(equal(plain, turned));
}

TEST(Optimizer, TakesAnyMemoryOrder) {
  expect_layout_free<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.9});
  expect_layout_free<Adam>(AdamOptions{.lr = 0.1});
  expect_layout_free<AdamW>(AdamWOptions{.lr = 0.1, .amsgrad = true});
  expect_layout_free<RMSprop>(RMSpropOptions{.lr = 0.1, .momentum = 0.5, .centered = true});
}

// bf16 goes through a copy in f32: what it differs by is the rounding of the start, of three steps and of gradients.
template <class O, class Options> void expect_close_in_bf16(const Options& options) {
  Tensor full = parameter(wave({8}, 0.1).to(f32)), half = parameter(wave({8}, 0.1).to(bf16));
  O first({full}, options), second({half}, options);
  for (int i = 0; i < 3; ++i) {
    full.set_grad(wave({8}, 0.5).to(f32));
    half.set_grad(wave({8}, 0.5).to(bf16));
    first.step();
    second.step();
  }
  EXPECT_EQ(half.dtype(), bf16);
  EXPECT_TRUE(allclose(half.to(f32), full, 0, 4 * 0x1p-8));
}

TEST(Optimizer, TakesHalfPrecision) {
  expect_close_in_bf16<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true});
  expect_close_in_bf16<AdamW>(AdamWOptions{.lr = 0.1});
  expect_close_in_bf16<RMSprop>(RMSpropOptions{.lr = 0.01, .momentum = 0.5, .centered = true});
}

TEST(Optimizer, FollowsACast) {
  Net net;
  Adam optimizer(net.parameters(), {.lr = 0.1});
  step(net, optimizer);
  net.to(f64);
  const std::vector<double> before = net.used.weight().to_vector<double>();
  step(net, optimizer);
  EXPECT_NE(net.used.weight().to_vector<double>(), before);
  EXPECT_EQ(optimizer.state_dict().tensors.at("used.weight.exp_avg").dtype(), f64);
}

/// Into an optimizer that was made with the defaults: every option is part of the state, as PyTorch's param_groups are.
template <class O, class Options> void expect_exact_resume(const Options& options) {
  Net net, copy;
  O optimizer(net.parameters(), options), other(copy.parameters());
  for (int i = 0; i < 3; ++i) step(net, optimizer);
  optimizer.set_lr(0.05);
  copy.load_state_dict(net.clone_state());
  other.load_state_dict(optimizer.state_dict());
  EXPECT_EQ(other.lr(), 0.05);
  EXPECT_EQ(other.steps(), 3);
  for (int i = 0; i < 3; ++i) {
    step(net, optimizer);
    step(copy, other);
  }
  EXPECT_TRUE(equal(net.used.weight(), copy.used.weight()));
  EXPECT_TRUE(equal(net.used.bias(), copy.used.bias()));
}

TEST(Optimizer, CarriesOnExactly) {
  expect_exact_resume<SGD>(SGDOptions{.lr = 0.01, .momentum = 0.9});
  expect_exact_resume<SGD>(SGDOptions{.lr = 0.01, .momentum = 0.9, .nesterov = true, .maximize = true});
  expect_exact_resume<Adam>(AdamOptions{.amsgrad = true});
  expect_exact_resume<AdamW>(AdamWOptions{.weight_decay = 0.3, .maximize = true});
  expect_exact_resume<RMSprop>(RMSpropOptions{.momentum = 0.9, .centered = true});
}

TEST(Optimizer, SwitchesAreNumbersThatAre0Or1) {
  Net net;
  SGD optimizer(net.parameters(), {.momentum = 0.9, .nesterov = true});
  EXPECT_EQ(optimizer.get("nesterov"), 1);
  EXPECT_EQ(optimizer.get("maximize"), 0);
  EXPECT_EQ(optimizer.state_dict().numbers.at("group.0.nesterov"), 1);
  optimizer.set("maximize", 1);
  EXPECT_EQ(optimizer.get("maximize"), 1);
  EXPECT_SAYS(error_of([&] { optimizer.set("nesterov", 0.5); }), "SGD(): nesterov is a switch, 0 or 1, not 0.5");
  EXPECT_EQ(optimizer.get("nesterov"), 1);
  State state = optimizer.state_dict();
  state.numbers.erase("group.0.nesterov");
  EXPECT_SAYS(error_of([&] { optimizer.load_state_dict(state); }), "missing group.0.nesterov");
}

TEST(Optimizer, RefusesAStateThatDoesNotFit) {
  Net net;
  Adam optimizer(net.parameters(), {});
  step(net, optimizer);
  State state = optimizer.state_dict();
  EXPECT_TRUE(state.tensors.contains("used.weight.exp_avg_sq"));
  state.tensors["used.weight.exp_avg"] = zeros({7});
  EXPECT_SAYS(error_of([&] { optimizer.load_state_dict(state); }),
              "used.weight.exp_avg has shape [7] instead of [2, 3]");
  SGD sgd(net.parameters(), {});
  EXPECT_SAYS(error_of([&] { sgd.load_state_dict(optimizer.state_dict()); }), "does not fit");
  EXPECT_EQ(sgd.steps(), 0);
}

TEST(Optimizer, KeysWithoutNamesAreNumbers) {
  Tensor a = parameter(ones({2})), b = parameter(ones({3}));
  SGD optimizer({a, b}, {.momentum = 0.5});
  a.set_grad(ones({2}));
  optimizer.step();
  EXPECT_TRUE(optimizer.state_dict().tensors.contains("0.momentum_buffer"));
  EXPECT_EQ(optimizer.unused(), Names{"1"});
}

TEST(Schedule, CarriesOn) {
  Tensor w = parameter(zeros({1}));
  SGD first({w}, {.lr = 0.4}), second({w}, {.lr = 9});
  CosineAnnealing schedule(first, {.steps = 10}), other(second, {.steps = 10});
  for (int i = 0; i < 4; ++i) schedule.step();
  other.load_state_dict(schedule.state_dict());
  EXPECT_EQ(other.steps(), 4);
  EXPECT_EQ(second.lr(), first.lr());
  EXPECT_THROW(other.load_state_dict({}), Error);
}

TEST(Schedule, ScalesEveryGroup) {
  Tensor a = parameter(zeros({1})), b = parameter(zeros({1}));
  SGD optimizer({{.parameters = {a}, .lr = 0.2}, {.parameters = {b}, .lr = 0.6}});
  StepLR schedule(optimizer, {.every = 1, .gamma = 0.5});
  schedule.step();
  EXPECT_DOUBLE_EQ(optimizer.lr(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.lr(1), 0.3);
}

TEST(Schedule, RefusesBadOptions) {
  Tensor w = parameter(zeros({1}));
  SGD optimizer({w}, {.lr = 0.4});
  EXPECT_THROW(StepLR(optimizer, {}), Error);
  EXPECT_THROW(CosineAnnealing(optimizer, {.steps = 0}), Error);
  EXPECT_THROW(LinearWarmup(optimizer, {.steps = -1}), Error);
  EXPECT_SAYS(error_of([&] { StepLR(optimizer, {}); }), "StepLR(): every must be 1 or more, not 0 (was it left out?)");
  EXPECT_SAYS(error_of([&] { StepLR(optimizer, {.every = 1, .gamma = -1}); }), "gamma must be 0 or more");
  EXPECT_SAYS(error_of([&] { CosineAnnealing(optimizer, {.steps = 1, .min_lr = -1}); }), "min_lr must be 0 or more");
  EXPECT_SAYS(error_of([&] { LinearWarmup(optimizer, {.steps = 1, .start_factor = -1}); }), "start_factor must be");
  EXPECT_SAYS(error_of([&] { Schedule(optimizer, nullptr); }), "the curve is empty");
  EXPECT_SAYS(error_of([&] { OneCycle(optimizer, {.steps = 3}); }), "OneCycle(): max_lr must be positive, not 0");
  EXPECT_SAYS(error_of([&] { OneCycle(optimizer, {.max_lr = 1, .steps = 3, .max_momentum = 1}); }), "in [0, 1), not 1");
  EXPECT_THROW(OneCycle(optimizer, {.max_lr = 1}), Error);
  OneCycle cycle(optimizer, {.max_lr = 1, .steps = 3});
  for (int i = 0; i < 3; ++i) cycle.step();
  EXPECT_DOUBLE_EQ(optimizer.lr(), 1.0 / 25 / 1e4);
  EXPECT_SAYS(error_of([&] { cycle.step(); }), "beyond the cycle of 3 steps");
}

TEST(Optimizer, KeysAreUniqueAlsoWhereNamesAreNumbers) {
  nn::ParameterList names;  // "0", "1"
  names.push_back(ones({2}));
  names.push_back(ones({2}));
  const Tensor a = parameter(ones({2})), b = parameter(ones({2}));
  SGD last({names[0], names[1], a, b}, {}), first({a, b, names[0], names[1]}, {}), mixed({a, names[1], names[0]}, {});
  EXPECT_EQ(last.unused(), (Names{"0", "1", "2", "3"}));
  EXPECT_EQ(first.unused(), (Names{"0", "1", "2", "3"}));
  EXPECT_EQ(mixed.unused(), (Names{"0", "1", "2"}));
  SGD twice({names[1], a}, {});
  EXPECT_EQ(twice.unused(), (Names{"1", "_1"}));
  twice.add_group({.parameters = {b}});
  EXPECT_THROW(twice.add_group({.parameters = {names[0], b}}), Error);
  twice.add_group({.parameters = {names[0]}});  // the group that was refused left nothing behind
  EXPECT_EQ(twice.unused(), (Names{"1", "_1", "2", "0"}));
}

TEST(Optimizer, RefusesAStateOfMoreOrOfLess) {
  const Tensor a = parameter(ones({2})), b = parameter(ones({2}));
  SGD groups({SGDGroup{.parameters = {a}, .lr = 0.5}, SGDGroup{.parameters = {b}, .lr = 0.25}}, {});
  SGD both({a, b}, {.lr = 0.1}), one({a}, {.lr = 0.1});
  EXPECT_SAYS(error_of([&] { both.load_state_dict(groups.state_dict()); }),
              "SGD(): the state does not fit: 6 numbers of other parameters or groups");
  EXPECT_SAYS(error_of([&] { one.load_state_dict(both.state_dict()); }), "1 numbers of other parameters or groups");
  State state = both.state_dict();
  state.numbers["group.0.nesterov"] = 1;
  state.numbers["group.0.lr"] = 7;
  EXPECT_SAYS(error_of([&] { both.load_state_dict(state); }), "the state does not fit: group 0: ");
  EXPECT_EQ(both.lr(), 0.1);
  EXPECT_EQ(both.get("nesterov"), 0);
  Adam adam({a}, {}), fresh({a}, {});
  Tensor(a).set_grad(ones({2}));
  adam.step();
  state = adam.state_dict();
  state.tensors.clear();
  EXPECT_SAYS(error_of([&] { fresh.load_state_dict(state); }), "the state does not fit: missing 0.exp_avg and more");
  EXPECT_EQ(fresh.steps(), 0);
}

// Those that share the work must go on drawing the same numbers.
TEST(Optimizer, DrawsTheSameRandomNumbersOnEachProcessThatSharesIt) {
  const AdamOptions options = {.stochastic_rounding = true, .bf16_states = true};
  Tensor whole[2];
  RandomState after[3];
  for (const int process : {0, 1, 2}) {  // 2: alone
    manual_seed(3);
    std::vector<Tensor> weights = {parameter(ones({300}, bf16)), parameter(ones({70}, bf16))};
    Adam optimizer(weights, options);
    if (process < 2)
      optimizer.share({.mine = {process == 0, process == 1}, .after_step = [] {}, .complete = [](State&) {}});
    for (int i = 0; i < 3; ++i) {
      for (const Tensor& w : weights) w.set_grad(full(w.shape(), 0.3, bf16));
      optimizer.step();
    }
    after[process] = random_state();
    for (const int i : {0, 1}) {
      if (process == i) whole[i] = clone(weights[i].detach());
      if (process == 2) {
        EXPECT_TRUE(equal(whole[i], weights[i]));
      }
    }
  }
  EXPECT_EQ(after[0], after[2]);
  EXPECT_EQ(after[1], after[2]);
}

TEST(Optimizer, TakesNoGroupOnceItIsShared) {
  const Tensor a = parameter(ones({2}));
  SGD optimizer({a}, {});
  optimizer.share({.mine = {true}, .after_step = {}, .complete = {}});
  EXPECT_SAYS(error_of([&] { optimizer.add_group({.parameters = {parameter(ones({2}))}}); }),
              "SGD(): its work is shared: add groups first, then share() or distributed::shard()");
  EXPECT_EQ(optimizer.group_count(), 1u);
}

}  // namespace
}  // namespace weft::optim
