#include "tensor/adjoints/optimizer_step.h"

#include <array>
#include <span>
#include <vector>

#include "tensor/dispatch/in_place.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/unary.h"

namespace weft::internal {
namespace {

/// Checks the operands that are defined; whether the kernel, which takes strided memory as it lies, takes them all.
bool is_direct(const OpInfo& info, const std::vector<Tensor>& operands) {
  std::vector<Operand> others;
  bool masked = false;
  for (const Tensor& x : operands) {
    others.push_back(operand(x));
    masked |= x.defined() && x.layout().has_mask();
  }
  op::check_step_operands(others[0], others);
  return info.policy.accepts.contains(operands[0].dtype()) && !masked;
}

void run(const char* name, const OpInfo& info, const void* step, uint32_t writes, const std::vector<Tensor>& operands) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& x : operands) pointers.push_back(&x);
  dispatch::apply_update(info, step, writes, name, pointers);
}

/// optimizer_step() with the type of the step erased.
void apply_step(const char* name, const OpInfo& info, const void* step, uint32_t writes, bool maximize,
                std::span<const Tensor* const> given) {
  ErrorFrame frame(name, *given[0], *given[1]);
  const internal::ModeScope unrecorded(&internal::Modes::recording, false);
  std::vector<Tensor> operands;
  for (const Tensor* x : given) operands.push_back(*x);
  if (maximize) operands[1] = -operands[1];
  if (is_direct(info, operands)) return run(name, info, step, writes, operands);
  std::vector<Tensor> copies = operands;
  for (Tensor& x : copies)
    if (x.defined()) x = clone(info.policy.accepts.contains(x.dtype()) ? x : cast(x, f32));
  run(name, info, step, writes, copies);
  for (size_t i = 0; i < copies.size(); ++i)
    if ((writes >> i & 1u) && copies[i].defined()) operands[i].copy_(copies[i]);
}

}  // namespace

template <class Step, std::same_as<Tensor>... States>
void optimizer_step(const char* name, const Step& step, const Tensor& parameter, const Tensor& gradient,
                    const States&... states) {
  const std::array<const Tensor*, 2 + sizeof...(States)> operands = {&parameter, &gradient, &states...};
  apply_step(name, op_info<Step>, &step, Step::writes, step.maximize, operands);
}

using T = const Tensor&;
template void optimizer_step(const char*, const op::SgdStep&, T, T, T);
template void optimizer_step(const char*, const op::AdamStep&, T, T, T, T, T);
template void optimizer_step(const char*, const op::RmspropStep&, T, T, T, T, T);
template void optimizer_step(const char*, const op::AdagradStep&, T, T, T);
template void optimizer_step(const char*, const op::AdadeltaStep&, T, T, T, T);
template void optimizer_step(const char*, const op::AdamaxStep&, T, T, T, T);
template void optimizer_step(const char*, const op::NAdamStep&, T, T, T, T);
template void optimizer_step(const char*, const op::RAdamStep&, T, T, T, T);
template void optimizer_step(const char*, const op::LionStep&, T, T, T);

}  // namespace weft::internal
