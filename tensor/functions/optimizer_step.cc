#include "tensor/adjoints/optimizer_step.h"

#include <cmath>

#include "tensor/dispatch/in_place.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/unary.h"

namespace weft::internal {
namespace {

/// Checks the operands that are defined; whether the op, whose kernel writes strided memory as it lies, takes them all.
template <class Op, class... Others>
bool is_fused(const Tensor& parameter, const Others&... others) {
  op::check_step_operands(operand(parameter), {operand(others)...});
  const auto is_masked = [](const Tensor& x) { return x.defined() && x.layout().has_mask(); };
  return contains(Op::policy.accepts, parameter.dtype()) && !is_masked(parameter) && !(is_masked(others) || ...) &&
         !parameter.layout().overlaps_itself();
}

/// average += (1 - beta) (value - average)
void lerp(Tensor average, const Tensor& value, double beta) { average.add_((value - average) * (1 - beta)); }

void adam_unfused(Tensor parameter, Tensor gradient, Tensor average, Tensor square, Tensor largest,
                  const op::AdamStep& step) {
  if (step.decoupled)
    parameter.mul_(1 - step.lr * step.weight_decay);
  else if (step.weight_decay != 0)
    gradient = gradient + parameter * step.weight_decay;
  lerp(average, gradient, step.beta1);
  square.mul_(step.beta2).add_(gradient * gradient * (1 - step.beta2));
  if (largest.defined()) largest.copy_(maximum(largest, square));
  const double correction1 = 1 - std::pow(step.beta1, static_cast<double>(step.step));
  const double correction2 = 1 - std::pow(step.beta2, static_cast<double>(step.step));
  const Tensor root = sqrt(largest.defined() ? largest : square) / std::sqrt(correction2) + step.eps;
  parameter.sub_(average / root * (step.lr / correction1));
}

void rmsprop_unfused(Tensor parameter, Tensor gradient, Tensor square, Tensor buffer, Tensor average,
                     const op::RmspropStep& step) {
  if (step.weight_decay != 0) gradient = gradient + parameter * step.weight_decay;
  square.mul_(step.alpha).add_(gradient * gradient * (1 - step.alpha));
  Tensor variance = square;
  if (average.defined()) {
    lerp(average, gradient, step.alpha);
    variance = square - average * average;
  }
  Tensor change = gradient / (sqrt(variance) + step.eps);
  if (step.momentum != 0) change = buffer.mul_(step.momentum).add_(change);
  parameter.sub_(change * step.lr);
}

void sgd_unfused(Tensor parameter, Tensor gradient, Tensor buffer, const op::SgdStep& step) {
  if (step.weight_decay != 0) gradient = gradient + parameter * step.weight_decay;
  if (step.momentum != 0) {
    if (step.first)
      buffer.copy_(gradient);
    else
      buffer.mul_(step.momentum).add_(gradient * (1 - step.dampening));
    gradient = step.nesterov ? gradient + buffer * step.momentum : buffer;
  }
  parameter.sub_(gradient * step.lr);
}

}  // namespace

void sgd_step(const Tensor& parameter, const Tensor& gradient, const Tensor& buffer, const op::SgdStep& step) {
  Frame frame("SGD", parameter, gradient);
  const ModeScope unrecorded(&Modes::recording, false);
  if (!is_fused<op::SgdStep>(parameter, gradient, buffer)) return sgd_unfused(parameter, gradient, buffer, step);
  dispatch::apply_update(step, "SGD", parameter, gradient, buffer);
}

void adam_step(const Tensor& parameter, const Tensor& gradient, const Tensor& average, const Tensor& square,
               const Tensor& largest, const op::AdamStep& step) {
  Frame frame("Adam", parameter, gradient);
  const ModeScope unrecorded(&Modes::recording, false);
  if (!is_fused<op::AdamStep>(parameter, gradient, average, square, largest) || largest.defined())
    return adam_unfused(parameter, gradient, average, square, largest, step);
  dispatch::apply_update(step, "Adam", parameter, gradient, average, square);
}

void rmsprop_step(const Tensor& parameter, const Tensor& gradient, const Tensor& square, const Tensor& buffer,
                  const Tensor& average, const op::RmspropStep& step) {
  Frame frame("RMSprop", parameter, gradient);
  const ModeScope unrecorded(&Modes::recording, false);
  if (!is_fused<op::RmspropStep>(parameter, gradient, square, buffer, average))
    return rmsprop_unfused(parameter, gradient, square, buffer, average, step);
  dispatch::apply_update(step, "RMSprop", parameter, gradient, square, buffer, average);
}

}  // namespace weft::internal
