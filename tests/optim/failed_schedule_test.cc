// Schedules whose constructor, step or load_state_dict() throws: the optimizer and the schedule stay as they were.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "autograd/leaf.h"
#include "optim/optim.h"
#include "tensor/functions/fill.h"
#include "tests/optim/rates.h"

namespace weft::optim {
namespace {

TEST(Schedule, AConstructorThatThrowsChangesNoGroup) {
  SGD optimizer({{.parameters = {weight()}}, {.parameters = {weight()}, .nesterov = true}},
                {.lr = 0.4, .momentum = 0.9});
  EXPECT_THROW(LambdaLR(optimizer, {[](int64_t) { return 0.5; }, [](int64_t) { return -1.0; }}), Error);
  EXPECT_EQ(optimizer.lr(0), 0.4);
  const CyclicOptions no_momentum{.base_lr = 0.1, .max_lr = 1, .base_momentum = 0, .max_momentum = 0};
  EXPECT_THROW(CyclicLR(optimizer, no_momentum), Error);
  EXPECT_THROW(OneCycle(optimizer, {.max_lr = 1, .steps = 9, .base_momentum = 0, .max_momentum = 0}), Error);
  for (const size_t group : {0, 1}) {
    EXPECT_EQ(optimizer.lr(group), 0.4);
    EXPECT_EQ(optimizer.get("momentum", group), 0.9);
  }
}

TEST(Schedule, AStepThatThrowsChangesNoGroupAndSkipsNoFactor) {
  Tensor a = parameter(zeros({1})), b = parameter(zeros({1}));
  SGD two({{.parameters = {a}}, {.parameters = {b}}}, {.lr = 1.0});
  bool bad = true;
  const std::vector<StepFactor> factors = {[](int64_t) { return 0.5; }, [&](int64_t) { return bad ? -1.0 : 0.5; }};
  bad = false;
  LambdaLR lambda(two, factors);
  bad = true;
  EXPECT_THROW(lambda.step(), Error);
  EXPECT_EQ(two.lr(0), 0.5);
  EXPECT_EQ(lambda.steps(), 0);

  // Of several schedules: steps, rates and the parts stay, even if the curve throws when it is asked again.
  Tensor c = parameter(zeros({1}));
  SGD chained({c}, {.lr = 1.0});
  bool fails = false;
  const auto fallible = [&](double factor) {
    return Curve([&fails, factor](int64_t step, double base) {
      if (fails) throw Error("not yet");
      return base * std::pow(factor, static_cast<double>(step));
    });
  };
  const auto part = [](const Curve& curve) -> MakeSchedule {
    return [curve](Optimizer& o) { return std::make_unique<Schedule>(o, curve); };
  };
  ChainedScheduler chain(chained, {part([](int64_t s, double b) { return b * std::pow(0.5, static_cast<double>(s)); }),
                                   part(fallible(0.1))});
  chain.step();
  EXPECT_NEAR(chained.lr(), 0.05, 1e-12);
  fails = true;
  EXPECT_THROW(chain.step(), Error);
  EXPECT_EQ(chain.steps(), 1);
  EXPECT_NEAR(chained.lr(), 0.05, 1e-12);
  fails = false;
  chain.step();
  EXPECT_NEAR(chained.lr(), 0.0025, 1e-12);
  SGD sequential({c}, {.lr = 1.0});
  SequentialLR sequence(sequential, {part([](int64_t, double b) { return b; }), part(fallible(0.5))}, {2});
  sequence.step();
  fails = true;
  EXPECT_THROW(sequence.step(), Error);
  EXPECT_EQ(sequence.steps(), 1);
  fails = false;
  sequence.step(), sequence.step();
  EXPECT_EQ(sequential.lr(), 0.5);

  SGD one({a}, {.lr = 1.0});
  bool throws = true;
  MultiplicativeLR product(one, [&](int64_t) { return throws ? throw Error("not yet") : 0.5; });
  EXPECT_THROW(product.step(), Error);
  throws = false;
  product.step(), product.step();
  EXPECT_EQ(one.lr(), 0.25);
}

// A momentum that a failed step or load_state_dict() has set is put back, as rates are.
TEST(JoinedSchedules, PutMomentaBackWhereTheyFail) {
  SGD optimizer({weight()}, {.lr = 0.4, .momentum = 0.5});
  bool fails = false;
  const MakeSchedule fallible = [&fails](Optimizer& o) {
    return std::make_unique<LambdaLR>(o, [&fails](int64_t) { return fails ? -1.0 : 1.0; });
  };
  const MakeSchedule cyclic = schedule_of<CyclicLR>(CyclicOptions{.base_lr = 0.1, .max_lr = 1, .up = 10});
  ChainedScheduler chain(optimizer, {cyclic, fallible});
  EXPECT_DOUBLE_EQ(optimizer.get("momentum"), 0.9);
  fails = true;
  EXPECT_THROW(chain.step(), Error);
  EXPECT_DOUBLE_EQ(optimizer.get("momentum"), 0.9);
  fails = false;

  SequentialLR sequence(optimizer, {cyclic, fallible}, {30});
  optimizer.set("momentum", 0.7);  // as other code may
  State state = sequence.state_dict();
  state.numbers["part.0.steps"] = 7;
  state.numbers["part.1.steps"] = -1;
  EXPECT_THROW(sequence.load_state_dict(state), Error);
  EXPECT_DOUBLE_EQ(optimizer.get("momentum"), 0.7);

  CyclicLR one(optimizer, {.base_lr = 0.1, .max_lr = 1, .up = 10});
  optimizer.set("momentum", 0.7);
  state = one.state_dict();
  state.numbers["group.0.lr"] = -1;
  EXPECT_THROW(one.load_state_dict(state), Error);
  EXPECT_DOUBLE_EQ(optimizer.get("momentum"), 0.7);
}

TEST(JoinedSchedules, PutMomentaBackWhereAPartCannotBegin) {
  SGD optimizer({weight()}, {.lr = 0.4, .momentum = 0.5});
  bool fails = false;
  const MakeSchedule fallible = [&fails](Optimizer& o) {
    return std::make_unique<LambdaLR>(o, [&fails](int64_t) { return fails ? -1.0 : 1.0; });
  };
  const MakeSchedule chain = [fallible](Optimizer& o) {
    const MakeSchedule cyclic = schedule_of<CyclicLR>(CyclicOptions{.base_lr = 0.1, .max_lr = 1, .up = 10});
    return std::make_unique<ChainedScheduler>(o, std::vector<MakeSchedule>{cyclic, fallible});
  };
  SequentialLR sequence(optimizer, {fallible, chain}, {1});
  EXPECT_EQ(optimizer.get("momentum"), 0.5);
  fails = true;
  EXPECT_THROW(sequence.step(), Error);
  EXPECT_EQ(optimizer.lr(), 0.4);
  EXPECT_EQ(optimizer.get("momentum"), 0.5);
  fails = false;
  sequence.step();
  EXPECT_EQ(optimizer.lr(), 0.1);
  EXPECT_DOUBLE_EQ(optimizer.get("momentum"), 0.9);
}

TEST(JoinedSchedules, AConstructorThatThrowsChangesNoRate) {
  SGD optimizer({weight()}, {.lr = 0.4, .momentum = 0.5});
  const MakeSchedule cyclic = schedule_of<CyclicLR>(CyclicOptions{.base_lr = 0.1, .max_lr = 1, .up = 10});
  const MakeSchedule bad = schedule_of<StepLR>(StepOptions{.every = 0});
  EXPECT_THROW(ChainedScheduler(optimizer, {cyclic, bad}), Error);
  EXPECT_EQ(optimizer.lr(), 0.4);
  EXPECT_EQ(optimizer.get("momentum"), 0.5);
  EXPECT_THROW(SequentialLR(optimizer, {cyclic, bad}, {3}), Error);
  EXPECT_EQ(optimizer.lr(), 0.4);
}

// What it did not set, another may.
TEST(Schedule, AStepThatThrowsKeepsNoOtherFromIt) {
  SGD optimizer({weight()}, {.lr = 0.4});
  OneCycle cycle(optimizer, {.max_lr = 1, .steps = 2});
  ExponentialLR decay(optimizer, {.gamma = 0.5});
  for (int i = 0; i < 2; ++i) optimizer.step(), cycle.step();
  optimizer.step();
  EXPECT_THROW(cycle.step(), Error);
  decay.step();
  SequentialLR sequence(optimizer,
                        {schedule_of<OneCycle>(OneCycleOptions{.max_lr = 1, .steps = 2}),
                         schedule_of<ExponentialLR>(ExponentialOptions{.gamma = 0.5})},
                        {9});
  for (int i = 0; i < 2; ++i) optimizer.step(), sequence.step();
  optimizer.step();
  EXPECT_THROW(sequence.step(), Error);
  decay.step();
}

TEST(Schedule, AStateThatDoesNotFitHidesNoPlateau) {
  SGD optimizer({weight()}, {.lr = 0.4});
  ExponentialLR decay(optimizer, {.gamma = 0.9});
  ReduceOnPlateau plateau(optimizer, {.factor = 0.5, .patience = 0});
  for (int i = 0; i < 2; ++i) plateau.step(1);
  State state = decay.state_dict();
  state.numbers["steps"] = -1;
  EXPECT_THROW(decay.load_state_dict(state), Error);
  EXPECT_THROW(decay.step(), Error);
  EXPECT_EQ(optimizer.lr(), 0.2);
}

}  // namespace
}  // namespace weft::optim
