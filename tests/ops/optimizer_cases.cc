// Cases of optimizer steps: what one step writes to copies of its inputs, against the formulas in double.
#include <cmath>

#include "tensor/adjoints/optimizer_step.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// The inputs are the parameter, the gradient and the states; the outputs are what is written: all but the gradient.
Call written(const std::function<void(const Inputs&)>& step) {
  return [step](const Inputs& x) {
    Inputs copies;
    for (size_t i = 0; i < x.size(); ++i) copies.push_back(i == 1 ? x[i].detach() : x[i].detach().clone());
    step(copies);
    copies.erase(copies.begin() + 1);
    return Outputs(copies);
  };
}

/// The same of one element: `step` changes {parameter, gradient, states...}.
Reference each(const std::function<void(std::vector<double>&)>& step) {
  return [step](const Arrays& x) {
    Arrays out;
    for (size_t k = 0; k < x.size(); ++k) {
      if (k == 1) continue;
      out.push_back(build(x[0].shape, [&](const Index& i) {
        std::vector<double> values;
        for (const Array& array : x) values.push_back(array.at(i));
        step(values);
        return values[k];
      }));
    }
    return out;
  };
}

/// Samples of a parameter, a gradient, and states in the ranges given.
struct Range {
  double low, high;
};
constexpr Range kSigned = {-0.3, 0.3}, kPositive = {0.5, 2};
std::vector<Sample> samples(const std::vector<Range>& states) {
  std::vector<Sample> out;
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{0, 3}, Shape{37}, Shape{2, 3, 2, 2}}) {
    Sample sample = {normal(shape), normal(shape)};
    for (const Range& range : states) sample.push_back(uniform(shape, range.low, range.high));
    out.push_back(sample);
  }
  return out;
}

void add(Cases& cases, const std::string& name, const std::vector<Range>& states,
         const std::function<void(const Inputs&)>& step, const std::function<void(std::vector<double>&)>& reference) {
  cases.add(name, samples(states), written(step), each(reference)).compares(kFloating).no_gradient().loose(4);
}

void add_sgd(Cases& cases) {
  add(
      cases, "sgd step", {},
      [](const Inputs& x) { internal::sgd_step(x[0], x[1], {}, {{.lr = 0.1, .weight_decay = 0.5}}); },
      [](std::vector<double>& v) { v[0] -= 0.1 * (v[1] + 0.5 * v[0]); });
  for (const bool nesterov : {false, true})
    for (const bool first : {false, true})
      add(
          cases, std::string("sgd momentum step") + (nesterov ? " nesterov" : "") + (first ? " first" : ""), {kSigned},
          [=](const Inputs& x) {
        const double dampening = nesterov ? 0 : 0.25;
        internal::sgd_step(
            x[0], x[1], x[2],
            {{.lr = 0.1, .momentum = 0.9, .dampening = dampening, .weight_decay = 0.5, .nesterov = nesterov}, first});
          },
          [=](std::vector<double>& v) {
        const double g = v[1] + 0.5 * v[0];
        v[2] = first ? g : 0.9 * v[2] + (nesterov ? 1 : 0.75) * g;
        v[0] -= 0.1 * (nesterov ? g + 0.9 * v[2] : v[2]);
      });
}

constexpr op::AdamStep kAdam = {{.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-2, .weight_decay = 0.5}, false, 3};

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
    add(
        cases, name, {kSigned, kPositive},
        [=](const Inputs& x) { internal::adam_step(x[0], x[1], x[2], x[3], {}, step); },
        [=](std::vector<double>& v) { adam_reference(v, decoupled); });
    add(
        cases, name + " amsgrad", {kSigned, kPositive, kPositive},
        [=](const Inputs& x) { internal::adam_step(x[0], x[1], x[2], x[3], x[4], step); },
        [=](std::vector<double>& v) { adam_reference(v, decoupled); });
  }
}

/// {parameter, gradient, square, states...}.
void add_rmsprop(Cases& cases, const std::string& name, bool with_buffer, bool centered) {
  std::vector<Range> states = {kPositive};
  if (with_buffer) states.push_back(kSigned);
  if (centered) states.push_back(kSigned);
  const double momentum = with_buffer ? 0.9 : 0;
  const op::RmspropStep step = {{.lr = 0.1, .alpha = 0.75, .eps = 1e-2, .weight_decay = 0.5, .momentum = momentum}};
  const size_t average = with_buffer ? 4 : 3;
  add(
      cases, name, states,
      [=](const Inputs& x) {
    internal::rmsprop_step(x[0], x[1], x[2], with_buffer ? x[3] : Tensor(), centered ? x[average] : Tensor(), step);
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
      "sgd gradient shape", [] { internal::sgd_step(ones({2}), ones({3}), {}, {{.lr = 1}}); },
      "SGD([2] f32, [3] f32): an operand of shape [3] for a parameter of shape [2]");
  cases.error<DtypeError>(
      "adam state dtype", [] { internal::adam_step(ones({2}), ones({2}), ones({2}), ones({2}, f64), {}, kAdam); },
      "Adam([2] f32, [2] f32): an operand of f64 for a parameter of f32");
  cases.error<Error>(
      "sgd without a buffer", [] { internal::sgd_step(ones({2}), ones({2}), {}, {{.lr = 1, .momentum = 0.5}}); },
      "SGD([2] f32, [2] f32): momentum 0.5 needs a buffer");
  cases.error<Error>(
      "rmsprop with a state that overlaps itself",
      [] { internal::rmsprop_step(ones({2}), ones({2}), ones({1}).expand({2}), {}, {}, {{.lr = 1}}); },
      "RMSprop([2] f32, [2] f32): RMSprop would write to a view that overlaps itself (strides [0]); write to a "
      "contiguous() copy");
}

}  // namespace

void add_optimizer_cases(Cases& cases) {
  add_sgd(cases);
  add_adam(cases);
  add_rmsprop(cases, "rmsprop step", false, false);
  add_rmsprop(cases, "rmsprop step momentum", true, false);
  add_rmsprop(cases, "rmsprop step centered", false, true);
  add_rmsprop(cases, "rmsprop step momentum centered", true, true);
  add_errors(cases);
}

}  // namespace weft::testing
