// Dispatch: every op passes through apply(op, inputs...):
//
//   prepare (check the device, autocast, promote, broadcast, remove masks, as the op's policy says) -> infer ->
//   allocate on the device -> run -> record
//
// If the inputs need no preparation, dispatch is static and costs a few comparisons. The type of the op is erased if
// inputs must be prepared, in writes in place, on devices other than the CPU, and for recording and observers.
//
// A descriptor is a struct in weft::op with `name`, `attributes`, `operator==`, `policy` (policy.h) and
//   a view op:     std::optional<View> view(const View& in) const;
//   a compute op:  Spec infer(const Operand& x, ...) const;  checks shapes; returns the result's layout and dtype
//                  void cpu(const Operand& x, ..., const Operand& out) const;  computes it; defined in kernels/cpu
//                  With `static constexpr int outputs = N`: infer returns std::array<Spec, N>, cpu has N outputs.
//   a list op:     takes one Operands (a list) instead of several inputs.
//   an update op:  `outputs = 0`; writes to the inputs whose bits are set in `static constexpr uint32_t writes`.
// Ops without inputs have a member `Device device`.
#pragma once

#include <array>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "tensor/dispatch/any_op.h"
#include "tensor/dispatch/modes.h"
#include "tensor/dispatch/op_call.h"
#include "tensor/tensor.h"

namespace weft {

/// The tensor in the form that descriptors and kernels use. For an undefined tensor, the operand has no view.
inline Operand operand(const Tensor& x) {
  if (!x.defined()) return {};
  const internal::TensorBody& body = internal::body(x);
  return {body.storage->data(), &body.view, body.dtype, body.storage->device()};
}
/// The same for a tensor that must be defined; Error if it is not.
inline Operand required_operand(const Tensor& x) {
  (void)internal::body(x);
  return operand(x);
}

namespace dispatch {

/// One Tensor, or an array of Tensors for an op with several outputs.
template <class Op>
using ResultOf =
    std::conditional_t<outputs_of<Op> == 1, Tensor, std::array<Tensor, static_cast<size_t>(outputs_of<Op>)>>;

// ---- prepare ----

/// GradientError if the history of `x` is stale, because its memory was written to after it was recorded.
void check_version(const Tensor& x);
/// Whether an op with this policy can use input `x` without preparation, given an input `first` that needs none.
[[gnu::always_inline]] inline bool is_ready(const Policy& policy, uint32_t bit, const Operand& first,
                                            const Operand& x) {
  const bool numeric = (policy.numeric & bit) != 0;
  return (policy.reads_masked || !x.view->has_mask()) && x.device == first.device &&
         (!numeric || (x.dtype == first.dtype && policy.accepts.contains(x.dtype))) &&
         (!policy.broadcasts || first.view == x.view || x.shape() == first.shape());
}
inline void check_input_version(const Tensor& x) {
  const internal::TensorBody& body = internal::body(x);
  if (body.described() != body.storage->version() && internal::modes().recording) [[unlikely]]
    check_version(x);
}
/// DeviceError if the defined inputs are on different devices.
void check_devices(Operands inputs);
/// The promoted dtype of all inputs. A function composed of several ops casts its inputs to it first, so that no
/// intermediate step is computed in the dtype of only some of them.
DType promoted(std::span<const Tensor> inputs);
/// Prepares the inputs as the op's policy requires. Casts, expands and copies are recorded ops.
void prepare(const OpInfo& info, std::span<Tensor> inputs);
/// DtypeError if `dtype` is not among `accepts`.
void check_accepted(DType dtype, DTypes accepts);

// ---- run ----

/// Memory for a result. ShapeError if its size overflows, MemoryError if there is not enough memory.
IntrusivePtr<Storage> allocate_storage(const Spec& spec, Device device);
template <class S>
  requires std::same_as<std::remove_cvref_t<S>, Spec> Tensor allocate(S&& spec, Device device = {}) {
    IntrusivePtr<Storage> storage = allocate_storage(spec, device);
    return internal::make_tensor(std::move(storage), std::forward<S>(spec).view, spec.dtype);
  }
inline Tensor allocate(const Spec& spec) { return allocate<const Spec&>(spec); }
/// A new tensor on the memory of x, without history.
Tensor alias(const Tensor& x);
/// x, or a copy where it shares memory with `source`: for functions whose results are never views.
Tensor unshared(const Tensor& x, const Tensor& source);
/// Runs the kernel of the operands' device and notifies observers.
void run_erased(const OpCall& call, Operands in, Operands out);
/// Throws the exception that is being handled: as a MemoryError, if the kernel had no room for its working memory.
[[noreturn]] void rethrow_from_kernel();
/// Records the history of an op that has just run, or marks its results as cut off from their history.
void record(const OpCall& call);
/// Whether `x` has a history or a cut mark, so that an op on it must be recorded.
inline bool has_history(const Tensor& x) {
  return x.defined() && (internal::body(x).history != nullptr || internal::body(x).cut != nullptr);
}
/// Whether the result may be written into the memory of input `index`, a temporary that ends with the call. The input
/// must be the only owner of its memory, have the result's dtype and layout, and not be saved for backward.
bool may_overwrite(const OpInfo& info, std::span<const Tensor* const> inputs, size_t index, const Spec& spec);
/// The device on which an op runs: that of its inputs.
template <class Op> Device device_of(const Op& op, Operands in) {
  if constexpr (requires { op.device; }) return op.device;
  for (const Operand& x : in)
    if (x.defined()) return x.device;
  return {};
}
/// No inputs are temporaries; known at compile time.
using NoTemporaries = std::integral_constant<uint32_t, 0>;

/// Runs an op whose inputs need no preparation. `temporaries` is a uint32_t or NoTemporaries; bit i means that input i
/// is a temporary, whose memory the result may take.
template <class Op, class Temporaries, class... Inputs>
[[gnu::always_inline]] inline ResultOf<Op> run(const Op& op, Temporaries temporaries,
                                               const std::array<Operand, sizeof...(Inputs)>& in,
                                               const Inputs&... inputs) {
  constexpr size_t kInputs = sizeof...(Inputs), kOutputs = static_cast<size_t>(outputs_of<Op>);
  const std::array<const Tensor*, kInputs> pointers = {&inputs...};
  const Device device = device_of(op, in);
  std::array<Tensor, kOutputs> results;
  [&]<size_t... I>(std::index_sequence<I...>) {
    auto specs = op.infer(in[I]...);
    if constexpr (kOutputs == 1) {
      if (temporaries != 0)
        for (size_t i = 0; i < kInputs && !results[0].defined(); ++i)
          if ((temporaries >> i & 1u) && may_overwrite(op_info<Op>, pointers, i, specs))
            results[0] = alias(*pointers[i]);
      if (!results[0].defined()) results[0] = allocate(std::move(specs), device);
    } else {
      for (size_t i = 0; i < kOutputs; ++i) results[i] = allocate(std::move(specs[i]), device);
    }
    [&]<size_t... O>(std::index_sequence<O...>) {
      const std::array<Operand, kOutputs> out = {operand(results[O])...};
      if (device.is_cpu() && internal::modes().observer == nullptr) [[likely]]
        try {
          op.cpu(in[I]..., out[O]...);
        } catch (...) {
          rethrow_from_kernel();
        }
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

/// Runs a type-erased op on inputs that may need preparation; `inputs` is replaced by the prepared inputs. Sets
/// `results`, one for each output. `device` is used for an op without inputs.
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

/// apply(), with the bits of the inputs that are temporaries (rvalues).
template <class Op, class Temporaries, class... Inputs>
ResultOf<Op> apply_over(const Op& op, Temporaries temporaries, const Inputs&... inputs) {
  const std::array<Operand, sizeof...(Inputs)> in = {operand(inputs)...};
  if constexpr (sizeof...(Inputs) > 0) {
    constexpr Policy kPolicy = policy_of<Op>;
    constexpr int kNumeric = std::countr_zero(kPolicy.numeric & ((1u << sizeof...(Inputs)) - 1u));
    const Operand& first = in[kNumeric < static_cast<int>(sizeof...(Inputs)) ? kNumeric : 0];
    bool ready = first.defined() && (kPolicy.autocast == Autocasting::follow || internal::modes().autocast == f32);
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
  return run(op, temporaries, in, inputs...);
}

/// Runs a compute op with a fixed number of inputs. Returns a Tensor, or std::array<Tensor, N> for several outputs.
template <class Op, std::same_as<Tensor>... Inputs>
  requires(!ViewOp<Op>)
ResultOf<Op> apply(const Op& op, const Inputs&... inputs) { return apply_over(op, NoTemporaries{}, inputs...); }

/// Runs a compute op that takes a list of inputs.
template <class Op> Tensor apply_list(const Op& op, std::span<const Tensor> inputs) {
  std::vector<Tensor> prepared(inputs.begin(), inputs.end());
  Tensor out;
  apply_erased(op_info<Op>, &op, prepared, {&out, 1});
  return out;
}

// ---- views ----

/// The view that `op` takes of `x`; recorded. ShapeError if strides cannot express it.
Tensor apply_view(const OpInfo& info, const void* op, std::optional<View> view, const Tensor& x);
inline Tensor apply_view(const AnyOp& op, const Tensor& x) {
  return apply_view(op.info(), op.get(), op.view(x.layout()), x);
}
template <ViewOp Op> Tensor apply(const Op& op, const Tensor& x) {
  return apply_view(op_info<Op>, &op, op.view(x.layout()), x);
}

}  // namespace dispatch
}  // namespace weft
