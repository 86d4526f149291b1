#include "tensor/ops/optimizer_step.h"

#include <cmath>

#include "tensor/op.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/unary.h"

namespace weft {
namespace {

/// Nothing is recorded while alive. (autograd's NoGrad is above this layer.)
class Unrecorded {
 public:
  Unrecorded() : previous_(modes().recording) { modes().recording = false; }
  ~Unrecorded() { modes().recording = previous_; }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  bool previous_;
};

void check(const Tensor& parameter, const Tensor& other) {
  if (other.shape() != parameter.shape())
    throw ShapeError(text("an operand of shape ", other.shape(), " for a parameter of shape ", parameter.shape()));
  if (other.dtype() != parameter.dtype())
    throw DtypeError(text("an operand of ", other.dtype(), " for a parameter of ", parameter.dtype()));
}

/// Checks the operands that are defined; whether the kernel, which writes strided memory as it lies, takes them all.
template <class... Others>
bool is_fused(const Tensor& parameter, const Others&... others) {
  ((others.defined() ? check(parameter, others) : void()), ...);
  const DType dtype = parameter.dtype();
  const bool masked = detail::is_masked(parameter) || (detail::is_masked(others) || ...);
  return (dtype == f32 || dtype == f64) && !masked && !parameter.layout().overlaps_itself();
}

template <class... States>
void written(const char* name, const Tensor& parameter, const States&... states) {
  parameter.storage().written_by(name);
  ((states.defined() ? states.storage().written_by(name) : void()), ...);
}

/// average += (1 - beta) (value - average)
void lerp(Tensor average, const Tensor& value, double beta) { average.add_((value - average) * (1 - beta)); }

void adam_unfused(Tensor parameter, Tensor gradient, Tensor average, Tensor square, Tensor largest,
                  const AdamStep& step) {
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
                     const RmspropStep& step) {
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

void sgd_unfused(Tensor parameter, Tensor gradient, Tensor buffer, const SgdStep& step) {
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

void sgd_step(const Tensor& parameter, const Tensor& gradient, const Tensor& buffer, const SgdStep& step) {
  Frame frame("SGD", parameter, gradient);
  const Unrecorded guard;
  if (!is_fused(parameter, gradient, buffer)) return sgd_unfused(parameter, gradient, buffer, step);
  kernels::cpu::sgd_step(operand(parameter), operand(gradient), OptionalOperand(buffer).get(), step);
  written("SGD", parameter, buffer);
}

void adam_step(const Tensor& parameter, const Tensor& gradient, const Tensor& average, const Tensor& square,
               const Tensor& largest, const AdamStep& step) {
  Frame frame("Adam", parameter, gradient);
  const Unrecorded guard;
  if (!is_fused(parameter, gradient, average, square, largest) || largest.defined())
    return adam_unfused(parameter, gradient, average, square, largest, step);
  kernels::cpu::adam_step(operand(parameter), operand(gradient), operand(average), operand(square), step);
  written("Adam", parameter, average, square);
}

void rmsprop_step(const Tensor& parameter, const Tensor& gradient, const Tensor& square, const Tensor& buffer,
                  const Tensor& average, const RmspropStep& step) {
  Frame frame("RMSprop", parameter, gradient);
  const Unrecorded guard;
  if (!is_fused(parameter, gradient, square, buffer, average))
    return rmsprop_unfused(parameter, gradient, square, buffer, average, step);
  kernels::cpu::rmsprop_step(operand(parameter), operand(gradient), operand(square), OptionalOperand(buffer).get(),
                             OptionalOperand(average).get(), step);
  written("RMSprop", parameter, square, buffer, average);
}

}  // namespace weft
