#include "tensor/ops/optimizer_step.h"

namespace weft::op {

void check_step_operands(const Operand& parameter, std::span<const Operand> others) {
  for (const Operand& other : others) {
    if (!other.defined()) continue;
    if (other.shape() != parameter.shape())
      throw ShapeError(text("an operand of shape ", other.shape(), " for a parameter of shape ", parameter.shape()));
    if (other.dtype != parameter.dtype)
      throw DtypeError(text("an operand of ", other.dtype, " for a parameter of ", parameter.dtype));
  }
}

void check_step(const Operand& parameter, std::initializer_list<Operand> others) {
  check_dtype(parameter, SgdStep::policy.accepts.contains(parameter.dtype), "f32 and f64");
  check_step_operands(parameter, {others.begin(), others.end()});
}

namespace {

void check_buffer(double momentum, const Operand& buffer) {
  if (momentum != 0 && !buffer.defined()) throw Error(text("momentum ", momentum, " needs a buffer"));
}

}  // namespace

void SgdStep::infer(const Operand& parameter, const Operand& gradient, const Operand& buffer) const {
  check_step(parameter, {gradient, buffer});
  check_buffer(momentum, buffer);
}

void AdamStep::infer(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& square,
                     const Operand& largest) const {
  check_step(parameter, {gradient, average, square, largest});
}

void RmspropStep::infer(const Operand& parameter, const Operand& gradient, const Operand& square, const Operand& buffer,
                        const Operand& average) const {
  check_step(parameter, {gradient, square, buffer, average});
  check_buffer(momentum, buffer);
}

}  // namespace weft::op
