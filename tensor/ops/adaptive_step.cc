#include "tensor/ops/adaptive_step.h"

namespace weft::op {

void AdagradStep::infer(const Operand& parameter, const Operand& gradient, const Operand& sum) const {
  check_step(parameter, {gradient, sum});
}

void AdadeltaStep::infer(const Operand& parameter, const Operand& gradient, const Operand& square,
                         const Operand& change) const {
  check_step(parameter, {gradient, square, change});
}

void AdamaxStep::infer(const Operand& parameter, const Operand& gradient, const Operand& average,
                       const Operand& largest) const {
  check_step(parameter, {gradient, average, largest});
}

void NAdamStep::infer(const Operand& parameter, const Operand& gradient, const Operand& average,
                      const Operand& square) const {
  check_step(parameter, {gradient, average, square});
}

void RAdamStep::infer(const Operand& parameter, const Operand& gradient, const Operand& average,
                      const Operand& square) const {
  check_step(parameter, {gradient, average, square});
}

void LionStep::infer(const Operand& parameter, const Operand& gradient, const Operand& average) const {
  check_step(parameter, {gradient, average});
}

}  // namespace weft::op
