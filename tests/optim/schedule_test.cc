// 60 rates of every schedule against PyTorch's; state; refused options. tests/golden/schedules.py makes the values.
#include "optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "optim/optim.h"
#include "tensor/functions/fill.h"
#include "tests/optim/rates.h"
#include "tests/optim/refused.h"
#include "tests/optim/schedule_values.h"
#include "tests/wave.h"

namespace weft::optim {
namespace {

/// What a test does with a schedule: one step, where `step` counts those before.
template <class S> void advance(S& schedule, int) { schedule.step(); }
double metric(int step) { return 1 / (1 + 0.2 * std::min(step, 20)) + 0.05 * std::sin(step); }

template <class S, class Step>
void check(const std::string& name, Optimizer& optimizer, S& schedule, const Step& step, const char* momentum) {
  std::vector<double> rates, momenta, numbers;
  for (int i = 0; i < 60; ++i) {
    rates.push_back(optimizer.lr());
    if (momentum != nullptr) momenta.push_back(optimizer.get(momentum));
    optimizer.step();
    step(schedule, i);
  }
  add_series(numbers, rates);
  if (momentum != nullptr) add_series(numbers, momenta);
  testing::expect_numbers(numbers, kRates.at(name), 1e-12, name);
}

template <class S, class Options> void check(const std::string& name, const Options& options, bool momentum = false) {
  SGD optimizer({weight()}, {.lr = 0.4});
  S schedule(optimizer, options);
  check(name, optimizer, schedule, advance<S>, momentum ? "momentum" : nullptr);
}

TEST(Rates, OfCurves) {
  check<MultiStepLR>("multi_step", MultiStepOptions{.milestones = {4, 17, 18, 40}, .gamma = 0.3});
  check<MultiStepLR>("multi_step_default", MultiStepOptions{.milestones = {30}});
  check<ConstantLR>("constant", ConstantOptions{});
  check<ConstantLR>("constant_long", ConstantOptions{.factor = 0.05, .steps = 33});
  check<LinearLR>("linear", LinearOptions{});
  check<LinearLR>("linear_down", LinearOptions{.start_factor = 1, .end_factor = 0.1, .steps = 45});
  check<ExponentialLR>("exponential", ExponentialOptions{.gamma = 0.93});
  check<ExponentialLR>("exponential_up", ExponentialOptions{.gamma = 1.02});
  check<PolynomialLR>("polynomial", PolynomialOptions{});
  check<PolynomialLR>("polynomial_square", PolynomialOptions{.steps = 50, .power = 2});
  check<CosineAnnealingWarmRestarts>("warm_restarts", WarmRestartsOptions{.period = 7});
  check<CosineWarmRestarts>("warm_restarts_double", WarmRestartsOptions{.period = 5, .multiplier = 2, .min_lr = 0.01});
  check<CosineWarmRestarts>("warm_restarts_triple", WarmRestartsOptions{.period = 3, .multiplier = 3});
}

TEST(Rates, OfFunctions) {
  check<LambdaLR>("lambda", [](int64_t step) { return 1 / std::sqrt(1 + static_cast<double>(step)); });
  check<MultiplicativeLR>("multiplicative", [](int64_t step) { return 0.9 + 0.1 * std::sin(step); });
}

TEST(Rates, OfJoinedCurves) {
  check<SequentialCurves>("sequential", SequentialOptions{.curves = {constant_curve({.factor = 0.1, .steps = 4}),
                                                                     exponential_curve({.gamma = 0.9}),
                                                                     step_curve({.every = 5, .gamma = 0.5})},
                                                          .milestones = {6, 30}});
  check<ChainedCurves>(
      "chained", std::vector<Curve>{constant_curve({.factor = 0.1, .steps = 20}), exponential_curve({.gamma = 0.95})});
  check<ChainedCurves>("chained_three", std::vector<Curve>{linear_curve({.steps = 12}),
                                                           multi_step_curve({.milestones = {10, 30}, .gamma = 0.5}),
                                                           polynomial_curve({.steps = 80})});
}

TEST(Rates, OfCycles) {
  check<OneCycleLR>("one_cycle_three", OneCycleOptions{.max_lr = 1, .steps = 60, .three_phases = true}, true);
  check<CyclicLR>("cyclic", CyclicOptions{.base_lr = 0.01, .max_lr = 0.2, .up = 8}, true);
  check<CyclicLR>("cyclic_half",
                  CyclicOptions{.base_lr = 0.01, .max_lr = 0.2, .up = 5, .down = 11, .mode = CycleMode::triangular2},
                  true);
  check<CyclicLR>("cyclic_rate", CyclicOptions{.max_lr = 0.2, .up = 20, .down = 3, .cycle_momentum = false});
  Adam adam({weight()}, {.lr = 0.4});
  CyclicLR cyclic(adam, {.base_lr = 0.1,
                         .max_lr = 0.3,
                         .up = 6,
                         .mode = CycleMode::exp_range,
                         .gamma = 0.97,
                         .base_momentum = 0.7,
                         .max_momentum = 0.95});
  check("cyclic_exp", adam, cyclic, advance<CyclicLR>, "beta1");
}

TEST(Rates, OfFurtherCurves) {
  check<MultiStepLR>("multi_step_0", MultiStepOptions{.milestones = {1, 2, 3}, .gamma = 0.9});
  check<MultiStepLR>("multi_step_1", MultiStepOptions{.milestones = {59}, .gamma = 0.5});
  check<ConstantLR>("constant_0", ConstantOptions{.factor = 1, .steps = 10});
  check<ConstantLR>("constant_1", ConstantOptions{.factor = 0.5, .steps = 1});
  check<LinearLR>("linear_0", LinearOptions{.start_factor = 0.1, .end_factor = 0.9, .steps = 17});
  check<LinearLR>("linear_1", LinearOptions{.start_factor = 1, .end_factor = 0, .steps = 59});
  check<ExponentialLR>("exponential_0", ExponentialOptions{.gamma = 0.5});
  check<ExponentialLR>("exponential_1", ExponentialOptions{.gamma = 1});
  check<PolynomialLR>("polynomial_0", PolynomialOptions{.steps = 33, .power = 0.5});
  check<PolynomialLR>("polynomial_1", PolynomialOptions{.steps = 70, .power = 3});
  check<CosineWarmRestarts>("warm_restarts_once", WarmRestartsOptions{.period = 100, .min_lr = 0.1});
  check<OneCycle>("one_cycle_early",
                  OneCycleOptions{.max_lr = 0.8, .steps = 64, .rising = 0.1, .base_momentum = 0.6, .max_momentum = 0.9},
                  true);
}

// PyTorch's OneCycleLR(max_lr=0.3, total_steps=10, pct_start=0.5, three_phase=True): the third phase is one step.
TEST(Rates, OfThreePhasesWhoseFirstIsHalfOfTheCycle) {
  SGD optimizer({weight()}, {.lr = 1});
  OneCycle schedule(optimizer,
                    {.max_lr = 0.3, .steps = 10, .rising = 0.5, .three_phases = true, .cycle_momentum = false});
  for (const double rate : {0.012, 0.0541766, 0.156, 0.2578234, 0.3, 0.2578234, 0.156, 0.0541766, 0.012, 1.2e-6}) {
    EXPECT_NEAR(optimizer.lr(), rate, 1e-7) << "step " << schedule.steps();
    schedule.step();
  }
}

// PyTorch's OneCycleLR of total_steps 10 raises at the 11th step() as well.
TEST(Rates, OfACycleEndAtItsLength) {
  SGD optimizer({weight()}, {.lr = 1});
  OneCycle schedule(optimizer, {.max_lr = 1, .steps = 10, .cycle_momentum = false});
  for (int i = 0; i < 9; ++i) schedule.step();
  EXPECT_NEAR(optimizer.lr(), 4e-6, 1e-18);
  schedule.step();
  EXPECT_NEAR(optimizer.lr(), 4e-6, 1e-18);
  EXPECT_REFUSED(schedule.step(), "OneCycle: step 11 is beyond the cycle of 10 steps");
}

TEST(Rates, OfStepsCosinesAndWarmups) {
  check<StepLR>("step_0", StepOptions{.every = 7, .gamma = 0.5});
  check<StepLR>("step_1", StepOptions{.every = 1, .gamma = 0.97});
  check<StepLR>("step_2", StepOptions{.every = 59, .gamma = 0.1});
  check<StepLR>("step_3", StepOptions{.every = 20, .gamma = 1.3});
  check<CosineAnnealing>("cosine_0", CosineOptions{.steps = 40, .min_lr = 0.01});
  check<CosineAnnealing>("cosine_1", CosineOptions{.steps = 60});
  check<CosineAnnealing>("cosine_2", CosineOptions{.steps = 7, .min_lr = 0.1});
  check<CosineAnnealing>("cosine_3", CosineOptions{.steps = 100, .min_lr = 0.39});
  check<LinearWarmup>("warmup_0", WarmupOptions{.steps = 20});
  check<LinearWarmup>("warmup_1", WarmupOptions{.steps = 1, .start_factor = 0.01});
  check<LinearWarmup>("warmup_2", WarmupOptions{.steps = 30, .start_factor = 0.5});
  check<LinearWarmup>("warmup_3", WarmupOptions{.steps = 59, .start_factor = 0.9});
}

TEST(Rates, OfFurtherFunctions) {
  using Step = int64_t;
  check<LambdaLR>("lambda_0", [](Step s) { return std::pow(0.95, s); });
  check<LambdaLR>("lambda_1", [](Step s) { return static_cast<double>(1 + s % 5); });
  check<LambdaLR>("lambda_2", [](Step s) { return std::max(0.0, 1 - static_cast<double>(s) / 50); });
  check<MultiplicativeLR>("multiplicative_0", [](Step) { return 0.95; });
  check<MultiplicativeLR>("multiplicative_1",
                          [](Step s) { return static_cast<double>(s) / static_cast<double>(s + 1); });
  check<MultiplicativeLR>("multiplicative_2", [](Step s) { return s % 2 != 0 ? 1.1 : 0.9; });
}

TEST(Rates, OfFurtherJoinedCurves) {
  const Curve constant = constant_curve({.factor = 0.2, .steps = 8}), cosine = cosine_curve({.steps = 50});
  const Curve linear = linear_curve({.start_factor = 0.5, .steps = 10});
  const Curve polynomial = polynomial_curve({.steps = 25, .power = 1.5});
  check<SequentialCurves>("sequential_warm", SequentialOptions{.curves = {linear, cosine}, .milestones = {10}});
  check<SequentialCurves>("sequential_short",
                          SequentialOptions{.curves = {linear, constant, polynomial}, .milestones = {1, 2}});
  check<SequentialCurves>("sequential_late", SequentialOptions{.curves = {constant, polynomial}, .milestones = {35}});
  check<ChainedCurves>("chained_polynomial", std::vector<Curve>{constant, polynomial});
  check<ChainedCurves>("chained_one", std::vector<Curve>{linear});
}

TEST(Rates, OfWeightAveraging) {
  check<SWALR>("swa", SwaLrOptions{.swa_lr = 0.05});
  check<SWALR>("swa_linear", SwaLrOptions{.swa_lr = 0.7, .steps = 33, .anneal = Anneal::linear});
  check<SWALR>("swa_at_once", SwaLrOptions{.swa_lr = 0.1, .steps = 0});
  SGD optimizer({weight()}, {.lr = 0.4});
  ExponentialLR first(optimizer, {.gamma = 0.97});
  SWALR swa(optimizer, {.swa_lr = 0.05, .steps = 12});
  const auto step = [&first](SWALR& schedule, int i) { i < 25 ? first.step() : schedule.step(); };
  check("swa_after", optimizer, swa, step, nullptr);
}

TEST(Rates, OfWeightAveragingByGroup) {
  Tensor a = weight(), b = weight();
  SGD optimizer({{.parameters = {a}, .lr = 0.5}, {.parameters = {b}, .lr = 0.25}});
  SWALR swa(optimizer, {.swa_lrs = {0.1, 0.05}, .steps = 4, .anneal = Anneal::linear});
  for (int step = 1; step <= 6; ++step) {
    optimizer.step(), swa.step();
    const double part = std::min(step / 4.0, 1.0);
    EXPECT_NEAR(optimizer.lr(0), 0.5 + (0.1 - 0.5) * part, 1e-12);
    EXPECT_NEAR(optimizer.lr(1), 0.25 + (0.05 - 0.25) * part, 1e-12);
  }
  optimizer.add_group({.parameters = {weight()}});
  EXPECT_REFUSED(swa.step(), "SWALR: swa_lrs has 2 numbers for 3 groups");
  EXPECT_EQ(swa.steps(), 6);
}

void check_plateau(const std::string& name, const PlateauOptions& options, double (*of_step)(int) = metric) {
  SGD optimizer({weight()}, {.lr = 0.4});
  ReduceOnPlateau schedule(optimizer, options);
  check(
      name, optimizer, schedule, [&](ReduceOnPlateau& plateau, int step) { plateau.step(of_step(step)); }, nullptr);
}

TEST(Rates, OfPlateaus) {
  check_plateau("plateau", {.patience = 3});
  check_plateau("plateau_factor", {.factor = 0.5, .patience = 1, .cooldown = 2, .min_lr = 0.02});
  check_plateau("plateau_absolute", {.factor = 0.7, .patience = 0, .threshold = 0.02, .relative = false});
  check_plateau("plateau_max", {.factor = 0.5, .patience = 4, .threshold = 1e-2, .maximize = true},
                [](int step) { return -metric(step) + 2; });
  check_plateau("plateau_eps", {.patience = 1, .eps = 0.01}, [](int) { return 1.0; });
}

/// After any number of steps, the state makes another schedule of another optimizer the same.
template <class S, class Options, class Step = void (*)(S&, int)>
void expect_resume(const Options& options, const Step& step = advance<S>) {
  SGD first({weight()}, {.lr = 0.4}), second({weight()}, {.lr = 9});
  S schedule(first, options), other(second, options);
  for (int i = 0; i < 13; ++i) step(schedule, i);
  second.load_state_dict(first.state_dict());
  other.load_state_dict(schedule.state_dict());
  for (int i = 13; i < 40; ++i) {
    EXPECT_EQ(second.lr(), first.lr()) << i;
    EXPECT_EQ(second.get("momentum"), first.get("momentum")) << i;
    step(schedule, i);
    step(other, i);
  }
  EXPECT_THROW(other.load_state_dict({}), Error);
  EXPECT_EQ(second.lr(), first.lr());
}

TEST(Rates, CarryOn) {
  expect_resume<MultiStepLR>(MultiStepOptions{.milestones = {4, 17, 18}});
  expect_resume<ConstantLR>(ConstantOptions{.steps = 20});
  expect_resume<LinearLR>(LinearOptions{.steps = 20});
  expect_resume<ExponentialLR>(ExponentialOptions{.gamma = 0.9});
  expect_resume<PolynomialLR>(PolynomialOptions{.steps = 30});
  expect_resume<CosineWarmRestarts>(WarmRestartsOptions{.period = 5, .multiplier = 2});
  expect_resume<CyclicLR>(CyclicOptions{.base_lr = 0.01, .max_lr = 0.2, .up = 8});
  expect_resume<OneCycle>(OneCycleOptions{.max_lr = 1, .steps = 60, .three_phases = true});
  expect_resume<SWALR>(SwaLrOptions{.swa_lr = 0.1, .steps = 20});
  expect_resume<MultiplicativeLR>([](int64_t step) { return 0.9 + 0.1 * std::sin(step); });
  expect_resume<ReduceOnPlateau>(PlateauOptions{.factor = 0.5, .patience = 1, .cooldown = 2},
                                 [](ReduceOnPlateau& plateau, int step) { plateau.step(metric(step)); });
}

// A part that is made after the optimizer's state was loaded sets its first momentum: the schedule's state has the
// present one, also that which a part has left whose turn is over.
TEST(JoinedSchedules, ResumeWithTheMomentum) {
  const MakeSchedule cycle = schedule_of<CyclicLR>(CyclicOptions{.base_lr = 0.1, .max_lr = 1, .up = 2, .down = 3});
  const MakeSchedule decay = schedule_of<ExponentialLR>(ExponentialOptions{0.9});
  const auto one_by_one = [&](Optimizer& optimizer) {
    return std::make_unique<SequentialLR>(optimizer, std::vector{cycle, decay}, std::vector<int64_t>{4});
  };
  const auto chained = [&](Optimizer& optimizer) {
    return std::make_unique<ChainedScheduler>(optimizer, std::vector<MakeSchedule>{decay, one_by_one});
  };
  for (const MakeSchedule& make : {MakeSchedule(one_by_one), MakeSchedule(chained)})
    for (int steps = 0; steps < 7; ++steps) {
      SGD first({weight()}, {.lr = 0.4, .momentum = 0.5}), second({weight()}, {.lr = 0.4, .momentum = 0.5});
      const Owned<Schedule> one = make(first);
      for (int i = 0; i < steps; ++i) one->step();
      second.load_state_dict(first.state_dict());
      const Owned<Schedule> other = make(second);
      State state = one->state_dict();
      other->load_state_dict(state);
      EXPECT_EQ(second.get("momentum"), first.get("momentum")) << steps;
      EXPECT_EQ(second.lr(), first.lr()) << steps;
      second.set("momentum", 0.25);
      std::erase_if(state.numbers, [](const auto& entry) { return entry.first.ends_with("momentum"); });
      other->load_state_dict(state);  // of an older version
      EXPECT_EQ(second.get("momentum"), 0.25);
    }
}

TEST(Rates, AGroupAddedLaterKeepsItsOwn) {
  SGD optimizer({weight()}, {.lr = 0.4});
  ExponentialLR schedule(optimizer, {.gamma = 0.5});
  optimizer.add_group({.parameters = {weight()}, .lr = 0.7});
  schedule.step();
  EXPECT_EQ(optimizer.lr(0), 0.2);
  EXPECT_EQ(optimizer.lr(1), 0.7);
}

/// The rates of six steps, as PyTorch's schedules of the same milestones give them.
template <class S> std::vector<double> six_rates(SGD& optimizer, S schedule) {
  std::vector<double> out = {optimizer.lr()};
  for (int i = 0; i < 5; ++i) schedule->step(), out.push_back(optimizer.lr());
  return out;
}

TEST(Rates, MilestonesMayBeZeroAndRepeat) {
  const auto rates = [](const std::vector<int64_t>& milestones) {
    SGD optimizer({weight()}, {.lr = 1});
    return six_rates(
        optimizer, std::make_unique<MultiStepLR>(optimizer, MultiStepOptions{.milestones = milestones, .gamma = 0.5}));
  };
  EXPECT_EQ(rates({0}), (std::vector{0.5, 0.5, 0.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(rates({0, 2, 2, 4}), (std::vector{0.5, 0.5, 0.125, 0.125, 0.0625, 0.0625}));
  EXPECT_EQ(rates({3, 1}), (std::vector{1.0, 0.5, 0.5, 0.25, 0.25, 0.25}));
  EXPECT_EQ(rates({}), (std::vector{1.0, 1.0, 1.0, 1.0, 1.0, 1.0}));
}

TEST(Rates, SequencesMayBeginWithTheirSecondPartAndLeaveOneOut) {
  const auto rates = [](const std::vector<int64_t>& milestones, bool of_curves) {
    SGD optimizer({weight()}, {.lr = 1});
    std::vector<Curve> curves = {constant_curve({.factor = 0.25, .steps = 100}), exponential_curve({.gamma = 0.5}),
                                 constant_curve({.factor = 0.125, .steps = 100})};
    std::vector<MakeSchedule> parts;
    for (const Curve& curve : curves)
      parts.push_back([curve](Optimizer& o) { return std::make_unique<Schedule>(o, curve); });
    curves.resize(milestones.size() + 1), parts.resize(milestones.size() + 1);
    if (of_curves)
      return six_rates(optimizer, std::make_unique<SequentialCurves>(
                                      optimizer, SequentialOptions{.curves = curves, .milestones = milestones}));
    return six_rates(optimizer, std::make_unique<SequentialLR>(optimizer, parts, milestones));
  };
  for (const bool of_curves : {true, false}) {
    EXPECT_EQ(rates({0}, of_curves), (std::vector{1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125}));
    EXPECT_EQ(rates({3, 3}, of_curves), (std::vector{0.25, 0.25, 0.25, 0.125, 0.125, 0.125}));
  }
}

TEST(Rates, AScheduleThatOutlivesItsOptimizerSaysSo) {
  auto optimizer = std::make_unique<SGD>(std::vector{weight()}, SGDOptions{.lr = 1});
  StepLR curve(*optimizer, {.every = 1});
  ReduceOnPlateau plateau(*optimizer, {});
  Accumulate accumulate(*optimizer, 2);
  optimizer.reset();
  const std::string gone = "Schedule: its optimizer is gone; the optimizer must live as long as it is used";
  EXPECT_REFUSED(curve.step(), gone);
  EXPECT_REFUSED(curve.lr(), gone);
  EXPECT_REFUSED(accumulate.backward(weight()), "Accumulate" + gone.substr(8));
  for (int i = 0; i < 11; ++i) plateau.step(1);  // until it would change the rate
  EXPECT_REFUSED(plateau.step(1), gone);
}

TEST(Plateau, NaNIsNoImprovement) {
  SGD optimizer({weight()}, {.lr = 0.4});
  ReduceOnPlateau plateau(optimizer, {.factor = 0.5, .patience = 1});
  EXPECT_EQ(plateau.best(), std::numeric_limits<double>::infinity());
  for (int i = 0; i < 2; ++i) plateau.step(std::nan(""));
  EXPECT_EQ(optimizer.lr(), 0.2);
  plateau.step(3);
  EXPECT_EQ(plateau.best(), 3);
  Schedule& base = plateau;
  EXPECT_THROW(base.step(), Error);
}

TEST(Rates, RefuseBadOptions) {
  SGD o({weight()});
  EXPECT_REFUSED(MultiStepLR(o, {.milestones = {3, -1}}),
                 "MultiStepLR(): milestones must ascend from 0 on, not -1 at place 0");
  EXPECT_REFUSED(SequentialCurves(
                     o, {.curves = {constant_curve({}), constant_curve({}), constant_curve({})}, .milestones = {3, 2}}),
                 "SequentialCurves(): milestones must ascend from 0 on, not 2 at place 1");
  EXPECT_REFUSED(MultiStepLR(o, {.gamma = -1}), "MultiStepLR(): gamma must be 0 or more, not -1");
  EXPECT_REFUSED(ConstantLR(o, {.factor = -1}), "ConstantLR(): factor must be 0 or more, not -1");
  EXPECT_REFUSED(LinearLR(o, {.steps = 0}), "LinearLR(): steps must be 1 or more, not 0 (was it left out?)");
  EXPECT_REFUSED(LinearLR(o, {.end_factor = -2}), "LinearLR(): end_factor must be 0 or more, not -2");
  EXPECT_REFUSED(ExponentialLR(o, {}), "ExponentialLR(): gamma must be positive, not 0 (was it left out?)");
  EXPECT_REFUSED(PolynomialLR(o, {.power = std::nan("")}), "PolynomialLR(): power must be 0 or more, not nan");
  EXPECT_REFUSED(CosineWarmRestarts(o, {}), "CosineWarmRestarts(): period must be 1 or more, not 0 (was it left out?)");
  EXPECT_REFUSED(SequentialCurves(o, {}), "SequentialCurves(): no curves were given");
  EXPECT_REFUSED(SequentialCurves(o, {.curves = {constant_curve({}), nullptr}}),
                 "SequentialCurves(): a curve is empty");
  EXPECT_REFUSED(SequentialCurves(o, {.curves = {constant_curve({})}, .milestones = {4}}),
                 "SequentialCurves(): 1 curves need one milestone less, not 1");
  EXPECT_REFUSED(ChainedCurves(o, {}), "ChainedCurves(): no curves were given");
  EXPECT_REFUSED(LambdaLR(o, nullptr), "LambdaLR(): the factor is empty");
  EXPECT_REFUSED(MultiplicativeLR(o, nullptr), "MultiplicativeLR(): the factor is empty");
  EXPECT_REFUSED(CyclicLR(o, {}), "CyclicLR(): max_lr must be positive, not 0 (was it left out?)");
  EXPECT_REFUSED(CyclicLR(o, {.base_lr = 2, .max_lr = 1}), "CyclicLR(): base_lr must be in [0, max_lr = 1], not 2");
  EXPECT_REFUSED(CyclicLR(o, {.max_lr = 1, .up = 0}), "CyclicLR(): up must be 1 or more, not 0");
  EXPECT_REFUSED(CyclicLR(o, {.max_lr = 1, .max_momentum = 1}),
                 "CyclicLR(): base_momentum and max_momentum must be in [0, 1), not 1");
  EXPECT_REFUSED(OneCycle(o, {.max_lr = 1, .steps = 9, .rising = 0.6, .three_phases = true}),
                 "OneCycle(): three phases need rising up to 0.5, not 0.6");
  EXPECT_REFUSED(SWALR(o, {}), "SWALR(): swa_lr must be positive, not 0 (was it left out?)");
  EXPECT_REFUSED(SWALR(o, {.swa_lr = 0.1, .steps = -1}), "SWALR(): steps must be 0 or more, not -1");
  EXPECT_REFUSED(SWALR(o, {.swa_lrs = {0.1, 0.1}}), "SWALR(): swa_lrs has 2 numbers for 1 groups");
  EXPECT_REFUSED(SWALR(o, {.swa_lrs = {-1}}), "SWALR(): swa_lr must be positive, not -1");
  EXPECT_REFUSED(ReduceOnPlateau(o, {.factor = 1}), "ReduceOnPlateau(): factor must be in [0, 1), not 1");
  EXPECT_REFUSED(ReduceOnPlateau(o, {.patience = -1}), "ReduceOnPlateau(): patience must be 0 or more, not -1");
}

}  // namespace
}  // namespace weft::optim
