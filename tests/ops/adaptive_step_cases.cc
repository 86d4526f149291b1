// Cases of the steps of optimizers with a rate per element.
#include <cmath>

#include "tensor/functions/fill.h"
#include "tests/ops/families.h"
#include "tests/ops/step_cases.h"

namespace weft::testing {

namespace {

using Values = std::vector<double>;  // of one element: the parameter, the gradient, the states

void add_adagrad(Cases& cases) {
  for (const int64_t t : {1, 4}) {
    const op::AdagradStep step = {optim::AdagradOptions{.lr = 0.1, .lr_decay = 0.5, .weight_decay = 0.5, .eps = 1e-2},
                                  t};
    add_step(
        cases, "adagrad step " + std::to_string(t), {kPositive},
        [=](const Inputs& x) { optimizer_step("Adagrad", step, x[0], x[1], x[2]); },
        [=](Values& v) {
          const double g = v[1] + 0.5 * v[0];
          v[2] += g * g;
          v[0] -= 0.1 / (1 + 0.5 * static_cast<double>(t - 1)) * g / (std::sqrt(v[2]) + 1e-2);
        });
  }
}

void add_adadelta(Cases& cases) {
  const op::AdadeltaStep step = {optim::AdadeltaOptions{.lr = 0.5, .rho = 0.75, .eps = 1e-2, .weight_decay = 0.5}};
  add_step(
      cases, "adadelta step", {kPositive, kPositive},
      [=](const Inputs& x) { optimizer_step("Adadelta", step, x[0], x[1], x[2], x[3]); },
      [](Values& v) {
        const double g = v[1] + 0.5 * v[0];
        v[2] = 0.75 * v[2] + 0.25 * g * g;
        const double change = std::sqrt(v[3] + 1e-2) / std::sqrt(v[2] + 1e-2) * g;
        v[3] = 0.75 * v[3] + 0.25 * change * change;
        v[0] -= 0.5 * change;
      });
}

void add_adamax(Cases& cases) {
  for (const int64_t t : {1, 5}) {
    const op::AdamaxStep step = {
        optim::AdamaxOptions{.lr = 0.1, .beta1 = 0.8, .beta2 = 0.5, .eps = 1e-2, .weight_decay = 0.5}, t};
    add_step(
        cases, "adamax step " + std::to_string(t), {kSigned, kPositive},
        [=](const Inputs& x) { optimizer_step("Adamax", step, x[0], x[1], x[2], x[3]); },
        [=](Values& v) {
          const double g = v[1] + 0.5 * v[0];
          v[2] = 0.8 * v[2] + 0.2 * g;
          v[3] = std::max(0.5 * v[3], std::abs(g) + 1e-2);
          v[0] -= 0.1 / (1 - std::pow(0.8, t)) * v[2] / v[3];
        });
  }
}

/// Decay and the two moments of NAdam and RAdam; returns the gradient.
double moments(Values& v, bool decoupled) {
  const double g = decoupled ? v[1] : v[1] + 0.5 * v[0];
  if (decoupled) v[0] *= 1 - 0.1 * 0.5;
  v[2] = 0.8 * v[2] + 0.2 * g;
  v[3] = 0.95 * v[3] + 0.05 * g * g;
  return g;
}

void add_nadam(Cases& cases) {
  for (const bool decoupled : {false, true}) {
    const op::NAdamStep step = {optim::NAdamOptions{.lr = 0.1,
                                                    .beta1 = 0.8,
                                                    .beta2 = 0.95,
                                                    .eps = 1e-2,
                                                    .weight_decay = 0.5,
                                                    .momentum_decay = 0.1,
                                                    .decoupled_weight_decay = decoupled},
                                3, 0.2};
    add_step(
        cases, decoupled ? "nadam step decoupled" : "nadam step", {kSigned, kPositive},
        [=](const Inputs& x) { optimizer_step("NAdam", step, x[0], x[1], x[2], x[3]); },
        [=](Values& v) {
          const double g = moments(v, decoupled);
          const double now = 0.8 * (1 - 0.5 * std::pow(0.96, 0.3)), next = 0.8 * (1 - 0.5 * std::pow(0.96, 0.4));
          const double mean = g * (1 - now) / (1 - 0.2) + v[2] * next / (1 - 0.2 * next);
          v[0] -= 0.1 * mean / (std::sqrt(v[3] / (1 - std::pow(0.95, 3))) + 1e-2);
        });
  }
}

void add_radam(Cases& cases) {
  for (const bool decoupled : {false, true})
    for (const int64_t t : {2, 20}) {  // before and after the rate is rectified
      const op::RAdamStep step = {optim::RAdamOptions{.lr = 0.1,
                                                      .beta1 = 0.8,
                                                      .beta2 = 0.95,
                                                      .eps = 1e-2,
                                                      .weight_decay = 0.5,
                                                      .decoupled_weight_decay = decoupled},
                                  t};
      add_step(
          cases, "radam step " + std::to_string(t) + (decoupled ? " decoupled" : ""), {kSigned, kPositive},
          [=](const Inputs& x) { optimizer_step("RAdam", step, x[0], x[1], x[2], x[3]); },
          [=](Values& v) {
            moments(v, decoupled);
            const double power = std::pow(0.95, t), limit = 2 / (1 - 0.95) - 1;
            const double length = limit - 2 * static_cast<double>(t) * power / (1 - power);
            double rate = 0.1 / (1 - std::pow(0.8, t));
            if (length > 5) {
              rate *= std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length));
              rate *= std::sqrt(1 - power) / (std::sqrt(v[3]) + 1e-2);
            }
            v[0] -= rate * v[2];
          });
    }
}

void add_lion(Cases& cases) {
  const op::LionStep step = {optim::LionOptions{.lr = 0.1, .beta1 = 0.75, .beta2 = 0.5, .weight_decay = 0.5}};
  const auto run = [=](const Inputs& x) { optimizer_step("Lion", step, x[0], x[1], x[2]); };
  const auto reference = [](Values& v) {
    const double mixed = 0.75 * v[2] + 0.25 * v[1];
    v[0] = (1 - 0.1 * 0.5) * v[0] - 0.1 * (mixed > 0 ? 1 : mixed < 0 ? -1 : mixed);
    v[2] = 0.5 * v[2] + 0.5 * v[1];
  };
  // The states that follow from samples are of a sign that no rounding changes.
  cases
      .add("lion step",
           {{normal({3, 4}), normal({3, 4}, {0}), given({3, 4}, Values(12, 0))},
            {normal({}), uniform({}, 1, 2), uniform({}, 0.5, 1)},
            {normal({0, 3}), normal({0, 3}), normal({0, 3})},
            {normal({37}), uniform({37}, -2, -1), uniform({37}, -0.3, 0.3)},
            {normal({4}), given({4}, {0, 0, 1, -1}), given({4}, {0, 0, 0, 0})}},
           written(run), each(reference))
      .compares(kFloating)
      .no_gradient()
      .loose(4)
      .no_vmap();
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "adagrad state shape",
      [] {
        optimizer_step("Adagrad", op::AdagradStep{optim::AdagradOptions{.lr = 1}}, ones({2}), ones({2}), ones({2, 1}));
      },
      "Adagrad([2] f32, [2] f32): an operand of shape [2, 1] for a parameter of shape [2]");
  cases.error<DtypeError>(
      "adadelta state dtype",
      [] { optimizer_step("Adadelta", op::AdadeltaStep{}, ones({2}), ones({2}), ones({2}), ones({2}, bf16)); },
      "Adadelta([2] f32, [2] f32): an operand of bf16 for a parameter of f32");
  cases.error<ShapeError>(
      "adamax gradient shape",
      [] { optimizer_step("Adamax", op::AdamaxStep{}, ones({2}), ones({1}), ones({2}), ones({2})); },
      "Adamax([2] f32, [1] f32): an operand of shape [1] for a parameter of shape [2]");
  cases.error<DtypeError>(
      "nadam gradient dtype",
      [] { optimizer_step("NAdam", op::NAdamStep{}, ones({2}), ones({2}, f64), ones({2}), ones({2})); },
      "NAdam([2] f32, [2] f64): an operand of f64 for a parameter of f32");
  cases.error<Error>(
      "radam parameter that overlaps itself",
      [] { optimizer_step("RAdam", op::RAdamStep{}, ones({1}).expand({2}), ones({2}), ones({2}), ones({2})); },
      "RAdam([2] f32, [2] f32): RAdam would write to a view that overlaps itself (strides [0]); write to a "
      "contiguous() copy");
  cases.error<Error>(
      "lion parameter with padding",
      [] {
        optimizer_step("Lion", op::LionStep{}, ones({2}).pad({{1, 1}}), ones({4}), ones({4}));
      },
      "Lion([4] f32, [4] f32): copy_ would write to a view with zero padding; write before pad(), or to its "
      "contiguous()");
}

}  // namespace

void add_adaptive_step_cases(Cases& cases) {
  add_adagrad(cases);
  add_adadelta(cases);
  add_adamax(cases);
  add_nadam(cases);
  add_radam(cases);
  add_lion(cases);
  add_errors(cases);
}

}  // namespace weft::testing
