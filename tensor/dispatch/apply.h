// Dispatch: every op passes through apply(op, inputs...):
//
//   prepare (same device, autocast, promote, broadcast, unmask: by the op's policy) -> infer -> allocate on the device
//   -> run -> record
//
// Ops are dispatched statically where their inputs need no preparation, which costs a few comparisons. Their type is
// erased where inputs are prepared, in writes in place, on other devices than the CPU, and where something records or
// observes.
//
// A descriptor is a struct in weft::op with `name`, `attributes`, `operator==`, `policy` (policy.h) and
//   a view op:     std::optional<View> view(const View& in) const;
//   a compute op: Spec infer(const Operand& x, ...) const; shape checks, and what the result will be
//                  void cpu(const Operand& x, ..., const Operand& out) const;  fills it: defined in kernels/cpu
//                  With `static constexpr int outputs = N`: std::array<Spec, N>, and N outputs at the end.
//   a list op:     takes Operands in place of its inputs.
//   an update op:  `outputs = 0`; writes to those of its inputs that `static constexpr uint32_t writes` names.
// Ops without inputs have a member `Device device`.
#pragma once

#include <array>
#include <bit>
#include <span>
#include <tuple>
#include <vector>

#include "tensor/dispatch/any_op.h"
#include "tensor/dispatch/modes.h"
#include "tensor/dispatch/op_call.h"
#include "tensor/tensor.h"

namespace weft {

/// The tensor as descriptors and kernels see it; an undefined one has no view.
inline Operand operand(const Tensor& x) {
  if (!x.defined()) return {};
  const internal::TensorBody& body = internal::body(x);
  return {body.storage->data(), &body.view, body.dtype, body.storage->device()};
}

namespace dispatch {

/// One Tensor, or an array of them where there are several outputs.
template <class Op>
using ResultOf =
    std::conditional_t<outputs_of<Op> == 1, Tensor, std::array<Tensor, static_cast<size_t>(outputs_of<Op>)>>;

// ---- prepare ----

/// Throws GradientError where `x` has a history that its memory no longer agrees with.
void check_version(const Tensor& x);
/// Whether the input can be used as it is by an op with this policy, beside an input `first` that has passed.
[[gnu::always_inline]] inline bool is_ready(const Policy& policy, uint32_t bit, const Operand& first,
                                            const Operand& x) {
  const bool numeric = (policy.numeric & bit) != 0;
  return (policy.reads_masked || !x.view->has_mask()) && x.device == first.device &&
         (!numeric || (x.dtype == first.dtype && contains(policy.accepts, x.dtype))) &&
         (!policy.broadcasts || first.view == x.view || x.shape() == first.shape());
}
inline void check_input_version(const Tensor& x) {
  const internal::TensorBody& body = internal::body(x);
  if (body.version != body.storage->version() && modes().recording) [[unlikely]]
    check_version(x);
}
/// DeviceError where the inputs that are there lie on several devices.
void check_devices(Operands inputs);
/// The dtype that one op of all these inputs would compute in: what functions composed of several ops cast them to
/// first, so that no step on the way is in the dtype of a part.
DType promoted(std::span<const Tensor> inputs);
/// The inputs as the op's policy wants them; casts, expands and copies are recorded ops.
void prepare(const OpInfo& info, std::span<Tensor> inputs);
[[noreturn]] void throw_not_accepted(DType dtype, DTypes accepts);

// ---- run ----

/// Memory for a result. ShapeError where its size overflows, Error where there is not enough.
IntrusivePtr<Storage> allocate_storage(const Spec& spec, Device device);
template <class S>
  requires std::same_as<std::remove_cvref_t<S>, Spec> Tensor allocate(S&& spec, Device device = {}) {
    IntrusivePtr<Storage> storage = allocate_storage(spec, device);
    return internal::make_tensor(std::move(storage), std::forward<S>(spec).view, spec.dtype);
  }
inline Tensor allocate(const Spec& spec) { return allocate<const Spec&>(spec); }
/// A tensor of its own on the same memory, without history.
Tensor alias(const Tensor& x);
/// Runs the kernel of the operands' device and notifies observers.
void run_erased(const OpCall& call, Operands in, Operands out);
/// History and cut marks of what just ran.
void record(const OpCall& call);
/// What remains to do after an op: for inputs with history and observers.
inline bool has_history(const Tensor& x) {
  return x.defined() && (internal::body(x).history != nullptr || internal::body(x).cut != nullptr);
}
/// Whether the result may be written over input `index`, whose last handle goes away with the call: it must own its
/// memory alone, have the result's dtype and layout, and not be kept for backward.
bool may_overwrite(const OpInfo& info, std::span<const Tensor* const> inputs, size_t index, const Spec& spec);
/// Where an op runs: where its inputs are.
template <class Op> Device device_of(const Op& op, Operands in) {
  if constexpr (requires { op.device; }) return op.device;
  for (const Operand& x : in)
    if (x.defined()) return x.device;
  return {};
}
/// The bits of inputs whose last handle the caller has: none, known at compile time.
using NoneDying = std::integral_constant<uint32_t, 0>;

/// Runs an op whose inputs are ready. Bit i of `dying` (a uint32_t, or NoneDying): the caller's last handle of input i.
template <class Op, class Dying, class... Inputs>
[[gnu::always_inline]] inline ResultOf<Op> run(const Op& op, Dying dying,
                                               const std::array<Operand, sizeof...(Inputs)>& in,
                                               const Inputs&... inputs) {
  constexpr size_t kInputs = sizeof...(Inputs), kOutputs = static_cast<size_t>(outputs_of<Op>);
  const std::array<const Tensor*, kInputs> pointers = {&inputs...};
  const Device device = device_of(op, in);
  std::array<Tensor, kOutputs> results;
  [&]<size_t... I>(std::index_sequence<I...>) {
    auto specs = op.infer(in[I]...);
    if constexpr (kOutputs == 1) {
      if (dying != 0)
        for (size_t i = 0; i < kInputs && !results[0].defined(); ++i)
          if ((dying >> i & 1u) && may_overwrite(op_info<Op>, pointers, i, specs)) results[0] = alias(*pointers[i]);
      if (!results[0].defined()) results[0] = allocate(std::move(specs), device);
    } else {
      for (size_t i = 0; i < kOutputs; ++i) results[i] = allocate(std::move(specs[i]), device);
    }
    [&]<size_t... O>(std::index_sequence<O...>) {
      const std::array<Operand, kOutputs> out = {operand(results[O])...};
      if (device.is_cpu() && modes().observer == nullptr) [[likely]]
        op.cpu(in[I]..., out[O]...);
      else
        run_erased({op_info<Op>, &op, pointers, results}, in, out);
    }
    (std::make_index_sequence<kOutputs>());
  }
  (std::make_index_sequence<kInputs>());
  if ((false || ... || has_history(inputs))) record({op_info<Op>, &op, pointers, results});
  if constexpr (kOutputs == 1)
    return std::move(results[0]);
  else
    return results;
}

/// An op of any type, on inputs that may have to be cast, expanded or copied first: they become what the op took.
/// Fills `results`, one for each output; `device` is that of an op without inputs.
void apply_erased(const OpInfo& info, const void* op, std::span<Tensor> inputs, std::span<Tensor> results,
                  Device device = {});
template <class Op, class... Inputs>
[[gnu::noinline]] ResultOf<Op> run_prepared(const Op& op, const Inputs&... inputs) {
  std::array<Tensor, sizeof...(Inputs)> prepared = {inputs...};
  std::array<Tensor, static_cast<size_t>(outputs_of<Op>)> results;
  apply_erased(op_info<Op>, &op, prepared, results);
  if constexpr (outputs_of<Op> == 1)
    return std::move(results[0]);
  else
    return results;
}

/// As apply(), with the bits of inputs whose last handle the caller has (rvalues).
template <class Op, class Dying, class... Inputs>
ResultOf<Op> apply_over(const Op& op, Dying dying, const Inputs&... inputs) {
  const std::array<Operand, sizeof...(Inputs)> in = {operand(inputs)...};
  if constexpr (sizeof...(Inputs) > 0) {
    constexpr Policy kPolicy = policy_of<Op>;
    constexpr int kNumeric = std::countr_zero(kPolicy.numeric & ((1u << sizeof...(Inputs)) - 1u));
    const Operand& first = in[kNumeric < static_cast<int>(sizeof...(Inputs)) ? kNumeric : 0];
    bool ready = kPolicy.autocast == Autocasting::follow || modes().autocast == f32;
    size_t i = 0;
    const auto look = [&](const Tensor& x) {
      const Operand& operand = in[i];
      const uint32_t bit = 1u << i++;
      if ((kPolicy.optional & bit) && !operand.defined()) return;
      check_input_version(x);  // throws where x is undefined
      ready = ready && is_ready(kPolicy, bit, first, operand);
    };
    (look(inputs), ...);
    if (!ready) [[unlikely]]
      return run_prepared(op, inputs...);
  }
  return run(op, dying, in, inputs...);
}

/// A compute op with a fixed number of inputs: one Tensor, or std::array<Tensor, N> where it has several outputs.
template <class Op, std::same_as<Tensor>... Inputs>
  requires(!ViewOp<Op>)
ResultOf<Op> apply(const Op& op, const Inputs&... inputs) { return apply_over(op, NoneDying{}, inputs...); }

/// A compute op over a list of inputs.
template <class Op> Tensor apply_list(const Op& op, std::span<const Tensor> inputs) {
  std::vector<Tensor> prepared(inputs.begin(), inputs.end());
  Tensor out;
  apply_erased(op_info<Op>, &op, prepared, {&out, 1});
  return out;
}

// ---- views ----

/// The view `op` takes of `x`, recorded. ShapeError where strides cannot express it.
Tensor apply_view(const OpInfo& info, const void* op, std::optional<View> view, const Tensor& x);
inline Tensor apply_view(const AnyOp& op, const Tensor& x) {
  return apply_view(op.info(), op.get(), op.view(x.layout()), x);
}
template <ViewOp Op> Tensor apply(const Op& op, const Tensor& x) {
  return apply_view(op_info<Op>, &op, op.view(x.layout()), x);
}

}  // namespace dispatch
}  // namespace weft
