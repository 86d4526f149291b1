// Steps on parameters and states of 16 bits. update() only ever sees f32 (or f64): the parameter's master, or a copy
// that is rounded afterwards; the gradient cast up; states cast up and rounded afterwards.
//
// A master is exact where the parameter is rounded. Other code may write the parameter between two steps (weights
// loaded from a file, an average copied back): the version of its memory tells, unless its address was given out. Each
// element of the master that no longer rounds to the parameter's is taken from the parameter then; the others keep what
// rounding cut off, so that it does not matter whether a checkpoint restores the model or the optimizer first.
#include "optim/half_precision.h"

#include "optim/optimizer.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/stochastic_cast.h"

namespace weft::optim {

Tensor Optimizer::new_state(const Tensor& parameter, size_t index, DType dtype) const {
  const Shape shape = state_shape(parameter, index);
  return shape == parameter.shape() ? zeros_like(parameter, dtype) : zeros(shape, dtype, parameter.device());
}

/// Allocates all states and masters that this step creates, and frees them into the allocator's cache: if memory runs
/// out, it does so before the first parameter changes.
void Optimizer::reserve_states() const {
  std::vector<Tensor> reserved;
  size_t number = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const HalfPrecision half = half_precision(i);
    for (const Slot& slot : groups_[i]) {
      const Tensor& parameter = slot.parameter;
      if (!is_mine(number++)) continue;
      const auto reserve = [&](const Shape& shape, DType dtype) {
        if (parameter.grad().defined()) reserved.push_back(empty(shape, dtype, parameter.device()));
      };
      for (size_t k = 0; k < slot.states.size(); ++k)
        if (!slot.states[k].defined() && wants_state(i, parameter, k))
          reserve(state_shape(parameter, k), stored_dtype(parameter, half.bf16_states));
      if (half.master_weights && is_half_precision(parameter.dtype()) && !slot.master.defined())
        reserve(parameter.shape(), f32);
    }
  }
}

Tensor Optimizer::state(Slot& slot, size_t index) const {
  Tensor& state = slot.states[index];
  const DType dtype = computed_dtype(slot.parameter);
  if (!state.defined())
    state = new_state(slot.parameter, index, dtype);
  else if (state.dtype() != dtype || state.device() != slot.parameter.device())
    state = cast(state.to(slot.parameter.device()), dtype);  // the module was cast or moved
  return state;
}

void Optimizer::update_slot(size_t group, Slot& slot, const Tensor& gradient, Generator* random) {
  const HalfPrecision half = half_precision(group);
  if (is_half_precision(slot.parameter.dtype()) || half.bf16_states)
    return update_in_f32(group, slot, gradient, random);
  slot.weights = slot.parameter;
  slot.master = {};  // the module was cast to a dtype that needs none
  update(group, slot, gradient);
}

void Optimizer::update_in_f32(size_t group, Slot& slot, const Tensor& gradient, Generator* random) {
  const HalfPrecision half = half_precision(group);
  const DType dtype = slot.parameter.dtype();
  const bool rounds = is_half_precision(dtype), has_master = rounds && half.master_weights;
  if (has_master)
    take_master(slot);
  else
    slot.master = {};
  slot.weights = has_master ? slot.master : rounds ? cast(slot.parameter.detach(), f32) : slot.parameter;
  const std::vector<Tensor> stored = slot.states;
  Tensor g = rounds ? cast(gradient, f32) : gradient;
  if (rounds && gradient_factor_ != 1) g.mul_(gradient_factor_);
  update(group, slot, g);
  if (rounds)
    slot.parameter.copy_(half.stochastic_rounding ? stochastic_cast(slot.weights, dtype, *random) : slot.weights);
  slot.written = internal::storage(slot.parameter).version();
  slot.weights = {};
  for (size_t k = 0; k < stored.size() && half.bf16_states; ++k) {
    Tensor& state = slot.states[k];
    if (!state.defined() || state.dtype() == bf16) continue;
    // Decay changes a mean by less than half a step of bf16: rounded to nearest, the mean would never change.
    const Tensor rounded = stochastic_cast(state, bf16, *random);
    const bool keeps_memory = stored[k].defined() && stored[k].dtype() == bf16 && stored[k].device() == state.device();
    state = keeps_memory ? Tensor(stored[k]).copy_(rounded) : rounded;
  }
}

void Optimizer::take_master(Slot& slot) const {
  const Tensor parameter = slot.parameter.detach();
  if (!slot.master.defined()) {
    slot.master = cast(parameter, f32);
    return;
  }
  if (slot.master.device() != parameter.device()) slot.master = slot.master.to(parameter.device());
  const bool seen = !internal::storage(parameter).may_change_unseen();  // data<T>() gave out its address
  if (seen && slot.written == internal::storage(parameter).version()) return;
  const Tensor agrees = eq(cast(slot.master, parameter.dtype()), parameter);
  slot.master.copy_(where(agrees, slot.master, cast(parameter, f32)));  // masters() gave out its memory
}

}  // namespace weft::optim
