// Schedules of any kind joined, rates by group, a cycle's own height, and early stopping. tests/golden/schedules.py
// makes the values.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "optim/optim.h"
#include "tensor/functions/fill.h"
#include "tests/error_of.h"
#include "tests/optim/rates.h"
#include "tests/optim/schedule_values.h"
#include "tests/wave.h"

namespace weft::optim {
namespace {

template <class Step>
void check(const std::string& name, Optimizer& optimizer, const Step& step, const char* momentum = nullptr) {
  std::vector<std::vector<double>> series(optimizer.group_count());
  std::vector<double> momenta, numbers;
  for (int i = 0; i < 60; ++i) {
    for (size_t group = 0; group < series.size(); ++group) series[group].push_back(optimizer.lr(group));
    if (momentum != nullptr) momenta.push_back(optimizer.get(momentum));
    optimizer.step();
    step();
  }
  for (const std::vector<double>& rates : series) add_series(numbers, rates);
  if (momentum != nullptr) add_series(numbers, momenta);
  testing::expect_numbers(numbers, kRates.at(name), 1e-12, name);
}

const MakeSchedule kWarmup = schedule_of<LinearLR>(LinearOptions{.start_factor = 0.2, .steps = 12});

TEST(Schedule, RefusesToOverwriteAnother) {
  SGD optimizer({weight()}, {.lr = 0.4});
  LinearLR warmup(optimizer, {.start_factor = 0.2, .steps = 12});
  ExponentialLR decay(optimizer, {.gamma = 0.9});
  optimizer.step();
  warmup.step();
  EXPECT_EQ(error_of([&] { decay.step(); }),
            "two schedules set the learning rate after one step of the optimizer, and the second would overwrite the "
            "first; combine them with ChainedScheduler or SequentialLR");
  EXPECT_EQ(decay.steps(), 0);
  optimizer.step();
  decay.step();  // one after the other is what a user may want
  SequentialLR joined(optimizer, {kWarmup, kWarmup}, {3});
  EXPECT_NE(error_of([&] { joined.step(); }), "");
}

// An optimizer's step that was skipped is none, but the next schedule's turn has come.
TEST(Schedule, MayFollowAnotherAfterASkippedStep) {
  const Tensor w = weight();
  SGD optimizer({w}, {.lr = 0.4});
  GradScaler scaler({.init_scale = 1});
  LinearLR warmup(optimizer, {.start_factor = 0.2, .steps = 12});
  ExponentialLR decay(optimizer, {.gamma = 0.9});
  for (const double gradient : {1.0, std::nan("")}) {
    w.set_grad(full(w.shape(), gradient, w.dtype()));
    scaler.step(optimizer);
    scaler.update();
    gradient == 1 ? warmup.step() : decay.step();
  }
  EXPECT_EQ(scaler.skipped(), 1);
  optimizer.skip_nonfinite();
  optimizer.step();
  warmup.step();
  EXPECT_EQ(optimizer.skipped(), 1);
}

TEST(Schedule, RefusesToUndoAPlateau) {
  SGD optimizer({weight()}, {.lr = 0.4});
  ExponentialLR decay(optimizer, {.gamma = 0.9});
  ReduceOnPlateau plateau(optimizer, {.factor = 0.5, .patience = 0});
  optimizer.step();
  decay.step();
  plateau.step(1);
  optimizer.step();
  decay.step();  // the plateau has changed nothing so far
  plateau.step(1);
  optimizer.step();
  EXPECT_EQ(error_of([&] { decay.step(); }),
            "ReduceOnPlateau or SWALR changed the learning rate, and this schedule would overwrite it; combine them "
            "with ChainedScheduler or SequentialLR, or make this schedule afterwards");
  EXPECT_EQ(optimizer.lr(), 0.5 * (0.4 * 0.9 * 0.9));
  ExponentialLR after(optimizer, {.gamma = 0.5});
  after.step();
  EXPECT_EQ(optimizer.lr(), 0.25 * (0.4 * 0.9 * 0.9));
}

// What other code set stays until the next step, resumed or not.
TEST(Schedule, ResumesWithARateSetByHand) {
  SGD first({weight()}, {.lr = 0.4}), second({weight()}, {.lr = 0.4});
  ExponentialLR one(first, {.gamma = 0.9}), other(second, {.gamma = 0.9});
  one.step();
  first.set_lr(0.01);
  other.load_state_dict(one.state_dict());
  EXPECT_EQ(second.lr(), 0.01);
  other.step();
  EXPECT_EQ(second.lr(), 0.4 * 0.9 * 0.9);
}

TEST(JoinedSchedules, ResumeLeavesTheMomentumToThePartWhoseTurnItIs) {
  const std::vector<MakeSchedule> parts = {kWarmup, schedule_of<OneCycle>(OneCycleOptions{.max_lr = 10, .steps = 49})};
  SGD first({weight()}, {.lr = 0.4, .momentum = 0.9}), second({weight()}, {.lr = 0.4, .momentum = 0.9});
  SequentialLR one(first, parts, {12}), other(second, parts, {12});
  for (int i = 0; i < 3; ++i) one.step();
  other.load_state_dict(one.state_dict());
  EXPECT_EQ(second.get("momentum"), 0.9);
  EXPECT_EQ(second.lr(), first.lr());
}

TEST(JoinedSchedules, AreSchedulesOfAnyKind) {
  SGD optimizer({weight()}, {.lr = 0.4});
  SequentialLR cycle(
      optimizer, {kWarmup, schedule_of<OneCycle>(OneCycleOptions{.max_lr = 10, .steps = 49, .cycle_momentum = false})},
      {12});
  check("joined_one_cycle", optimizer, [&] { cycle.step(); });
  SGD other({weight()}, {.lr = 0.4});
  SequentialLR cyclic(
      other,
      {kWarmup, schedule_of<CyclicLR>(CyclicOptions{.base_lr = 0.4, .max_lr = 0.9, .up = 6, .cycle_momentum = false})},
      {12});
  check("joined_cyclic", other, [&] { cyclic.step(); });
}

TEST(JoinedSchedules, StartFromTheGroupsOwnRates) {
  // OneCycle sets rate and momentum when it is made: the warm-up does not see them.
  SGD optimizer({weight()}, {.lr = 0.4, .momentum = 0.5});
  SequentialLR schedule(optimizer, {kWarmup, schedule_of<OneCycle>(OneCycleOptions{.max_lr = 1, .steps = 20})}, {3});
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.08);
  EXPECT_DOUBLE_EQ(optimizer.get("momentum"), 0.5);
  for (int i = 0; i < 3; ++i) schedule.step();
  EXPECT_NEAR(optimizer.lr(), 1.0 / 25, 1e-15);
  EXPECT_DOUBLE_EQ(optimizer.get("momentum"), 0.95);
}

TEST(JoinedSchedules, HandTheMetricToAPlateau) {
  SGD optimizer({weight()}, {.lr = 0.4});
  SequentialLR schedule(optimizer,
                        {kWarmup, schedule_of<ReduceLROnPlateau>(PlateauOptions{.factor = 0.5, .patience = 1})}, {12});
  for (int i = 0; i < 12; ++i) schedule.step(1.0);
  const double reached = optimizer.lr();
  for (int i = 0; i < 3; ++i) schedule.step(1.0);  // one that is the best, two that are no better
  EXPECT_DOUBLE_EQ(optimizer.lr(), reached / 2);
  EXPECT_THROW(schedule.step(), Error);
  EXPECT_EQ(schedule.steps(), 15);  // what was refused was no step
}

TEST(JoinedSchedules, ChainedScaleWhatThoseBeforeGive) {
  SGD optimizer({weight()}, {.lr = 0.4});
  ChainedScheduler schedule(optimizer, {schedule_of<ExponentialLR>(ExponentialOptions{.gamma = 0.9}), kWarmup,
                                        schedule_of<ReduceOnPlateau>(PlateauOptions{.factor = 0.5, .patience = 3})});
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.4 * 0.2);
  for (int i = 1; i <= 10; ++i) {
    const double rate = optimizer.lr();
    EXPECT_THROW(schedule.step(), Error);  // the last part wants a metric: none took this step
    EXPECT_EQ(schedule.steps(), i - 1);
    EXPECT_EQ(optimizer.lr(), rate);
    schedule.step(1.0);
    const double halves = i >= 9 ? 0.25 : i >= 5 ? 0.5 : 1;
    EXPECT_NEAR(optimizer.lr(), 0.4 * std::pow(0.9, i) * (0.2 + 0.8 * i / 12) * halves, 1e-14) << i;
  }
}

template <class Make> void expect_resumes(const Make& make) {
  SGD a({weight()}, {.lr = 0.4}), b({weight()}, {.lr = 0.4});
  auto first = make(a), second = make(b);
  for (int i = 0; i < 17; ++i) first->step(1.0);
  b.load_state_dict(a.state_dict());
  second->load_state_dict(first->state_dict());
  for (int i = 0; i < 20; ++i) {
    EXPECT_DOUBLE_EQ(a.lr(), b.lr()) << i;
    first->step(1.0), second->step(1.0);
  }
  State state = first->state_dict();
  state.numbers.erase("part.1.steps");
  EXPECT_THROW(second->load_state_dict(state), Error);
}

TEST(JoinedSchedules, Resume) {
  const std::vector<MakeSchedule> parts = {kWarmup,
                                           schedule_of<ReduceOnPlateau>(PlateauOptions{.factor = 0.5, .patience = 1})};
  expect_resumes([&](Optimizer& o) { return std::make_unique<SequentialLR>(o, parts, std::vector<int64_t>{9}); });
  expect_resumes([&](Optimizer& o) { return std::make_unique<ChainedScheduler>(o, parts); });
}

TEST(JoinedSchedules, RefuseWhatDoesNotFit) {
  SGD optimizer({weight()}, {.lr = 0.4});
  EXPECT_THROW(SequentialLR(optimizer, {}, {}), Error);
  EXPECT_THROW(SequentialLR(optimizer, {kWarmup, kWarmup}, {}), Error);
  EXPECT_THROW(SequentialLR(optimizer, {kWarmup, kWarmup}, {-1}), Error);
  EXPECT_THROW(ChainedScheduler(optimizer, {MakeSchedule()}), Error);
}

TEST(Rates, OfACycleWithAHeightOfItsOwn) {
  SGD optimizer({weight()}, {.lr = 0.4}), other({weight()}, {.lr = 0.4});
  CyclicLR cycles(optimizer,
                  {.base_lr = 0.01, .max_lr = 0.2, .up = 7, .down = 3, .scale_fn = [](double x) { return 1 / x; }});
  check(
      "cyclic_scale_cycle", optimizer, [&] { cycles.step(); }, "momentum");
  CyclicLR steps(other, {.base_lr = 0.01,
                         .max_lr = 0.2,
                         .up = 7,
                         .down = 3,
                         .scale_fn = [](double x) { return std::pow(0.95, x); },
                         .scale_by_cycle = false});
  check(
      "cyclic_scale_iterations", other, [&] { steps.step(); }, "momentum");
}

template <class S, class Options, class... Metric>
void check_groups(const std::string& name, const Options& options, Metric... metric) {
  SGD optimizer({{.parameters = {weight()}}, {.parameters = {weight()}, .lr = 0.1}}, {.lr = 0.4, .momentum = 0.9});
  S schedule(optimizer, options);
  check(name, optimizer, [&] { schedule.step(metric...); });
}

TEST(Rates, OfGroups) {
  check_groups<OneCycle>("groups_one_cycle", OneCycleOptions{.max_lrs = {1, 0.2}, .steps = 60});
  check_groups<CyclicLR>("groups_cyclic", CyclicOptions{.base_lrs = {0.01, 0.1}, .max_lrs = {0.2, 0.5}, .up = 8});
  check_groups<ReduceOnPlateau>("groups_plateau", PlateauOptions{.factor = 0.5, .patience = 3, .min_lrs = {0.1, 0.002}},
                                1.0);
  using Factors = std::vector<StepFactor>;
  check_groups<LambdaLR>("groups_lambda", Factors{[](int64_t step) { return std::pow(0.9, step); },
                                                  [](int64_t step) { return 1.0 / static_cast<double>(1 + step); }});
  check_groups<MultiplicativeLR>(
      "groups_multiplicative",
      Factors{[](int64_t) { return 0.97; }, [](int64_t step) { return 1 - 0.001 * static_cast<double>(step); }});
  SGD optimizer({weight()}, {.lr = 0.4});
  EXPECT_THROW(OneCycle(optimizer, {.max_lrs = {1, 0.2}, .steps = 60}), Error);
  EXPECT_THROW(CyclicLR(optimizer, {.base_lrs = {0.3}, .max_lrs = {0.2}}), Error);
  EXPECT_THROW(ReduceOnPlateau(optimizer, {.min_lrs = {0.1, 0.2}}), Error);
  EXPECT_EQ(error_of([&] { LambdaLR schedule(optimizer, Factors{}); }), "LambdaLR: there are 0 factors for 1 groups");
  EXPECT_EQ(error_of([&] { MultiplicativeLR schedule(optimizer, Factors{}); }),
            "MultiplicativeLR: there are 0 factors for 1 groups");
}

TEST(EarlyStopping, StopsAfterTooLongWithoutAnImprovement) {
  EarlyStopping stopping({.patience = 2, .threshold = 0.1});
  EXPECT_FALSE(stopping.improved());
  EXPECT_FALSE(stopping.step(1.0));
  EXPECT_TRUE(stopping.improved());
  EXPECT_FALSE(stopping.step(0.95));  // too little
  EXPECT_FALSE(stopping.step(std::nan("")));
  EarlyStopping other({.patience = 2, .threshold = 0.1});
  other.load_state_dict(stopping.state_dict());
  EXPECT_TRUE(stopping.step(2.0));
  EXPECT_FALSE(stopping.step(0.5));
  EXPECT_EQ(stopping.best(), 0.5);
  EXPECT_EQ(other.bad_steps(), 2);
  EXPECT_TRUE(other.step(2.0));
  EarlyStopping accuracy({.patience = 0, .maximize = true});
  EXPECT_FALSE(accuracy.step(0.5));
  EXPECT_FALSE(accuracy.step(0.6));
  EXPECT_TRUE(accuracy.step(0.6));
  EXPECT_THROW(EarlyStopping({.patience = -1}), Error);
  EXPECT_THROW(other.load_state_dict({}), Error);
}

TEST(JoinedSchedules, LeaveAGroupThatCameLater) {
  SGD optimizer({weight()}, {.lr = 1});
  ChainedScheduler schedule(optimizer, {schedule_of<ExponentialLR>(ExponentialOptions{.gamma = 0.9}),
                                        schedule_of<ExponentialLR>(ExponentialOptions{.gamma = 0.5})});
  for (int i = 0; i < 40; ++i) optimizer.add_group({.parameters = {weight()}, .lr = 1});
  for (int i = 0; i < 4; ++i) schedule.step();
  EXPECT_NEAR(optimizer.lr(), std::pow(0.45, 4), 1e-14);
  for (size_t group = 1; group <= 40; ++group) EXPECT_EQ(optimizer.lr(group), 1);
}

TEST(JoinedSchedules, SwaWithoutStepsHoldsFromItsMilestone) {
  SGD optimizer({weight()}, {.lr = 0.5});
  SequentialLR schedule(optimizer, {kWarmup, schedule_of<SWALR>(SwaLrOptions{.swa_lr = 0.05, .steps = 0})}, {3});
  for (int i = 0; i < 2; ++i) schedule.step();
  EXPECT_NE(optimizer.lr(), 0.05);
  for (int i = 0; i < 3; ++i) {
    schedule.step();
    EXPECT_EQ(optimizer.lr(), 0.05) << i;
  }
}

TEST(ReduceOnPlateau, WantsARateForAGroupThatCameLater) {
  SGD optimizer({weight()}, {.lr = 1});
  ReduceOnPlateau schedule(optimizer, {.patience = 0, .min_lrs = {0.5}}), all(optimizer, {.patience = 0});
  optimizer.add_group({.parameters = {weight()}, .lr = 1});
  EXPECT_EQ(error_of([&] { schedule.step(1); }), "ReduceOnPlateau: min_lrs has 1 numbers for 2 groups");
  EXPECT_EQ(schedule.steps(), 0);
  for (int i = 0; i < 2; ++i) all.step(1);
  EXPECT_DOUBLE_EQ(optimizer.lr(1), 0.1);
}

TEST(Schedule, AStateBeyondTheEndChangesNothing) {
  SGD a({weight()}, {.lr = 1}), b({weight()}, {.lr = 1});
  OneCycle longer(a, {.max_lr = 1, .steps = 90}), shorter(b, {.max_lr = 1, .steps = 10});
  for (int i = 0; i < 50; ++i) longer.step();
  for (int i = 0; i < 3; ++i) shorter.step();
  const double rate = b.lr();
  EXPECT_THROW(shorter.load_state_dict(longer.state_dict()), Error);
  EXPECT_EQ(shorter.steps(), 3);
  EXPECT_EQ(b.lr(), rate);
  for (int i = 0; i < 7; ++i) shorter.step();
  EXPECT_THROW(shorter.step(), Error);
  EXPECT_EQ(shorter.steps(), 10);
}

TEST(ReduceOnPlateau, AndEarlyStoppingRefuseABestThatIsNoNumber) {
  SGD optimizer({weight()}, {.lr = 1});
  ReduceOnPlateau schedule(optimizer, {});
  State state = schedule.state_dict();
  state.numbers["best"] = std::nan("");
  EXPECT_THROW(schedule.load_state_dict(state), Error);
  EarlyStopping stopping({.patience = 2});
  state = stopping.state_dict();
  state.numbers["best"] = std::nan("");
  EXPECT_THROW(stopping.load_state_dict(state), Error);
}

TEST(ReduceOnPlateau, RefusesAnEpsThatIsNoNumber) {
  SGD optimizer({weight()}, {.lr = 1});
  for (const double eps : {-1.0, std::nan("")}) EXPECT_THROW(ReduceOnPlateau(optimizer, {.eps = eps}), Error);
}

TEST(JoinedSchedules, RefuseAPartOfAnotherOptimizer) {
  SGD optimizer({weight()}, {.lr = 1}), other({weight()}, {.lr = 1});
  const auto part = [&](Optimizer&) { return std::make_unique<StepLR>(other, StepOptions{.every = 1}); };
  EXPECT_THROW(ChainedScheduler(optimizer, {part}), Error);
  EXPECT_THROW(SequentialLR(optimizer, {part, part}, {1}), Error);
}

/// A SequentialLR or a ChainedScheduler as a part of another one.
template <class Joined, class... More> MakeSchedule joined(std::vector<MakeSchedule> parts, More... more) {
  return [=](Optimizer& o) { return std::make_unique<Joined>(o, parts, more...); };
}
MakeSchedule constant(double factor) { return schedule_of<ConstantLR>(ConstantOptions{.factor = factor, .steps = 99}); }
MakeSchedule exponential(double gamma) { return schedule_of<ExponentialLR>(ExponentialOptions{.gamma = gamma}); }
using Milestones = std::vector<int64_t>;

std::vector<double> rates_of(JoinedSchedules& schedule, const Optimizer& optimizer, int steps) {
  std::vector<double> out;
  for (int i = 0; i < steps; ++i) out.push_back(optimizer.lr()), schedule.step(1.0);
  return out;
}
void expect_rates(const std::vector<double>& rates, const std::vector<double>& expected) {
  ASSERT_EQ(rates.size(), expected.size());
  for (size_t i = 0; i < rates.size(); ++i) EXPECT_NEAR(rates[i], expected[i], 1e-14) << i;
}

TEST(JoinedSchedules, BeginAsPartsOfOthersWithTheirOwnFirstRate) {
  SGD optimizer({weight()}, {.lr = 1});
  SequentialLR schedule(optimizer,
                        {joined<ChainedScheduler>({constant(0.1), exponential(0.5)}),
                         joined<SequentialLR>({constant(0.5), exponential(0.25)}, Milestones{2})},
                        {2});
  expect_rates(rates_of(schedule, optimizer, 6), {0.1, 0.05, 0.5, 0.5, 1, 0.25});
}

TEST(JoinedSchedules, ScaleWhatThoseBeforeGiveAsPartsOfOthers) {
  SGD optimizer({weight()}, {.lr = 1});
  const MakeSchedule plateau = schedule_of<ReduceOnPlateau>(PlateauOptions{.factor = 0.5, .patience = 0});
  ChainedScheduler schedule(optimizer, {exponential(0.5), joined<SequentialLR>({constant(0.1), plateau}, Milestones{2}),
                                        joined<ChainedScheduler>({constant(0.1), exponential(0.5)})});
  // The plateau begins at step 2, and halves at steps 4 and 5.
  expect_rates(rates_of(schedule, optimizer, 6), {1e-2, 1e-2 / 4, 1e-2 / 16, 1e-2 / 64, 1e-2 / 512, 1e-2 / 4096});
}

// A combination may be made for an optimizer that has been loaded already, as other schedules may.
TEST(JoinedSchedules, ResumeFromTheRatesAtTheBeginning) {
  const std::vector<MakeSchedule> parts = {exponential(0.5), constant(0.1)};
  SGD first({weight()}, {.lr = 1}), second({weight()}, {.lr = 1});
  ChainedScheduler one(first, parts);
  for (int i = 0; i < 3; ++i) one.step();
  second.load_state_dict(first.state_dict());
  ChainedScheduler other(second, parts);
  other.load_state_dict(one.state_dict());
  EXPECT_EQ(second.lr(), first.lr());
  one.step(), other.step();
  EXPECT_EQ(second.lr(), first.lr());
}

}  // namespace
}  // namespace weft::optim
