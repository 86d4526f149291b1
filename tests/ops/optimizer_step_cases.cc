// Cases of optimizer steps: what one step writes to copies of its inputs, against the formulas in double.
#include <cmath>

#include "tensor/functions/fill.h"
#include "tests/ops/families.h"
#include "tests/ops/step_cases.h"

namespace weft::testing {

namespace {

void add_sgd(Cases& cases) {
  add_step(
      cases, "sgd step", {},
      [](const Inputs& x) {
        optimizer_step("SGD", op::SgdStep{optim::SGDOptions{.lr = 0.1, .weight_decay = 0.5}}, x[0], x[1], Tensor());
      },
      [](std::vector<double>& v) { v[0] -= 0.1 * (v[1] + 0.5 * v[0]); });
  for (const bool nesterov : {false, true})
    for (const bool first : {false, true})
      add_step(
          cases, std::string("sgd momentum step") + (nesterov ? " nesterov" : "") + (first ? " first" : ""), {kSigned},
          [=](const Inputs& x) {
            const double dampening = nesterov ? 0 : 0.25;
            const optim::SGDOptions options = {
                .lr = 0.1, .momentum = 0.9, .dampening = dampening, .weight_decay = 0.5, .nesterov = nesterov};
            optimizer_step("SGD", op::SgdStep{options, first}, x[0], x[1], x[2]);
          },
          [=](std::vector<double>& v) {
            const double g = v[1] + 0.5 * v[0];
            v[2] = first ? g : 0.9 * v[2] + (nesterov ? 1 : 0.75) * g;
            v[0] -= 0.1 * (nesterov ? g + 0.9 * v[2] : v[2]);
          });
}

constexpr op::AdamStep kAdam = {
    optim::AdamOptions{.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-2, .weight_decay = 0.5}, false, 3};

/// {parameter, gradient, average, square}, with the largest square where there is one.
void adam_reference(std::vector<double>& v, bool decoupled) {
  const double g = decoupled ? v[1] : v[1] + 0.5 * v[0];
  if (decoupled) v[0] *= 1 - 0.1 * 0.5;
  v[2] = 0.8 * v[2] + 0.2 * g;
  v[3] = 0.95 * v[3] + 0.05 * g * g;
  double square = v[3];
  if (v.size() > 4) square = v[4] = std::max(v[4], v[3]);
  const double mean = v[2] / (1 - std::pow(0.8, 3)), corrected = square / (1 - std::pow(0.95, 3));
  v[0] -= 0.1 * mean / (std::sqrt(corrected) + 1e-2);
}

void add_adam(Cases& cases) {
  for (const bool decoupled : {false, true}) {
    op::AdamStep step = kAdam;
    step.decoupled = decoupled;
    const std::string name = decoupled ? "adamw step" : "adam step";
    add_step(
        cases, name, {kSigned, kPositive},
        [=](const Inputs& x) { optimizer_step("Adam", step, x[0], x[1], x[2], x[3], Tensor()); },
        [=](std::vector<double>& v) { adam_reference(v, decoupled); });
    add_step(
        cases, name + " amsgrad", {kSigned, kPositive, kPositive},
        [=](const Inputs& x) { optimizer_step("Adam", step, x[0], x[1], x[2], x[3], x[4]); },
        [=](std::vector<double>& v) { adam_reference(v, decoupled); });
  }
}

/// {parameter, gradient, square, states...}.
void add_rmsprop(Cases& cases, const std::string& name, bool with_buffer, bool centered) {
  std::vector<StateRange> states = {kPositive};
  if (with_buffer) states.push_back(kSigned);
  if (centered) states.push_back(kSigned);
  const double momentum = with_buffer ? 0.9 : 0;
  const op::RmspropStep step = {
      optim::RMSpropOptions{.lr = 0.1, .alpha = 0.75, .eps = 1e-2, .weight_decay = 0.5, .momentum = momentum}};
  const size_t average = with_buffer ? 4 : 3;
  add_step(
      cases, name, states,
      [=](const Inputs& x) {
        optimizer_step("RMSprop", step, x[0], x[1], x[2], with_buffer ? x[3] : Tensor(),
                       centered ? x[average] : Tensor());
      },
      [=](std::vector<double>& v) {
        const double g = v[1] + 0.5 * v[0];
        v[2] = 0.75 * v[2] + 0.25 * g * g;
        double variance = v[2];
        if (centered) {
          v[average] = 0.75 * v[average] + 0.25 * g;
          variance -= v[average] * v[average];
        }
        double change = g / (std::sqrt(variance) + 1e-2);
        if (with_buffer) change = v[3] = 0.9 * v[3] + change;
        v[0] -= 0.1 * change;
      });
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "sgd gradient shape",
      [] { optimizer_step("SGD", op::SgdStep{optim::SGDOptions{.lr = 1}}, ones({2}), ones({3}), Tensor()); },
      "SGD([2] f32, [3] f32): an operand of shape [3] for a parameter of shape [2]");
  cases.error<DtypeError>(
      "adam state dtype",
      [] { optimizer_step("Adam", kAdam, ones({2}), ones({2}), ones({2}), ones({2}, f64), Tensor()); },
      "Adam([2] f32, [2] f32): an operand of f64 for a parameter of f32");
  cases.error<Error>(
      "sgd without a buffer",
      [] {
        optimizer_step("SGD", op::SgdStep{optim::SGDOptions{.lr = 1, .momentum = 0.5}}, ones({2}), ones({2}), Tensor());
      },
      "SGD([2] f32, [2] f32): momentum 0.5 needs a buffer");
  cases.error<Error>(
      "rmsprop with a state that overlaps itself",
      [] {
        optimizer_step("RMSprop", op::RmspropStep{optim::RMSpropOptions{.lr = 1}}, ones({2}), ones({2}),
                       ones({1}).expand({2}), Tensor(), Tensor());
      },
      "RMSprop([2] f32, [2] f32): RMSprop would write to a view that overlaps itself (strides [0]); write to a "
      "contiguous() copy");
}

}  // namespace

void add_optimizer_step_cases(Cases& cases) {
  add_sgd(cases);
  add_adam(cases);
  add_rmsprop(cases, "rmsprop step", false, false);
  add_rmsprop(cases, "rmsprop step momentum", true, false);
  add_rmsprop(cases, "rmsprop step centered", false, true);
  add_rmsprop(cases, "rmsprop step momentum centered", true, true);
  add_errors(cases);
}

}  // namespace weft::testing
