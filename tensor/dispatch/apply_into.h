// apply_into: runs an op and writes its results into memory of the caller. Used by gradient rules that can write a
// gradient directly into its destination (autograd/placement.h).
#pragma once

#include <algorithm>
#include <array>

#include "tensor/dispatch/apply.h"

namespace weft::dispatch {

/// Whether a result with this spec may be written to `into`: shape, dtype and device are equal; strides may differ.
inline bool fits(const Tensor& into, const Spec& spec, Device device) {
  return into.defined() && into.shape() == spec.view.shape() && into.dtype() == spec.dtype && into.device() == device;
}

/// apply(), but result i is written to `into[i]` (for one output: `into`) if that is defined and fits. The kernel must
/// support outputs with any strides, and the memory must not overlap itself or an input. While recording, results are
/// always new tensors.
template <class Op, std::same_as<Tensor>... Inputs>
ResultOf<Op> apply_into(const Op& op, const ResultOf<Op>& into, const Inputs&... inputs) {
  constexpr size_t kInputs = sizeof...(Inputs), kOutputs = static_cast<size_t>(outputs_of<Op>);
  const Tensor* destinations = nullptr;
  if constexpr (kOutputs == 1)
    destinations = &into;
  else
    destinations = into.data();
  if (internal::modes().recording ||
      std::none_of(destinations, destinations + kOutputs, [](const Tensor& x) { return x.defined(); }))
    return apply(op, inputs...);
  std::array<Tensor, kInputs> ready = {inputs...};
  prepare(op_info<Op>, ready);
  std::array<Operand, kInputs> in;
  std::array<const Tensor*, kInputs> pointers;
  for (size_t i = 0; i < kInputs; ++i) {
    in[i] = operand(ready[i]);
    pointers[i] = &ready[i];
  }
  const Device device = device_of(op, in);
  std::array<Spec, kOutputs> specs;
  if constexpr (kOutputs == 1)
    specs[0] = std::apply([&](const auto&... x) { return op.infer(x...); }, in);
  else
    specs = std::apply([&](const auto&... x) { return op.infer(x...); }, in);
  std::array<Tensor, kOutputs> results;
  std::array<Operand, kOutputs> out;
  for (size_t i = 0; i < kOutputs; ++i) {
    results[i] = fits(destinations[i], specs[i], device) ? destinations[i] : allocate(specs[i], device);
    out[i] = operand(results[i]);
  }
  run_erased({op_info<Op>, &op, pointers, results}, in, out);
  if constexpr (kOutputs == 1)
    return std::move(results[0]);
  else
    return results;
}

}  // namespace weft::dispatch
