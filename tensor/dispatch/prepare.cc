// prepare: brings the inputs of an op into the form that its policy requires.
#include <algorithm>

#include "tensor/core/error.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/autocast_copies.h"
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/per_tensor.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"

namespace weft::dispatch {
namespace {

/// Whether `inputs` of a policy has input `i`; the last bit stands for all further ones of a list.
bool has_bit(uint32_t inputs, size_t i) { return inputs >> std::min<size_t>(i, 31) & 1u; }

/// PyTorch's rule: tensors without axes do not widen the dtype of others within a category.
DType promoted(const Policy& policy, std::span<const Tensor> inputs) {
  std::optional<DType> with_axes, without_axes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || !has_bit(policy.numeric, i)) continue;
    std::optional<DType>& sum = inputs[i].rank() > 0 ? with_axes : without_axes;
    sum = sum ? promote(*sum, inputs[i].dtype()) : inputs[i].dtype();
  }
  if (!with_axes || !without_axes) return with_axes ? *with_axes : without_axes.value_or(f32);
  return promotion_category(*with_axes) >= promotion_category(*without_axes) ? *with_axes
                                                                             : promote(*with_axes, *without_axes);
}

/// The dtype that the numeric inputs take.
DType common_dtype(const Policy& policy, std::span<const Tensor> inputs) {
  const DType dtype = promoted(policy, inputs);
  if (policy.widens_integers && !is_floating(dtype)) return f32;
  const DType lower = internal::modes().autocast;
  if (lower != f32 && policy.autocast == Autocasting::lower && dtype == f32) return lower;
  if (lower != f32 && policy.autocast == Autocasting::full && is_half_precision(dtype)) return f32;
  return dtype;
}

}  // namespace

DType promoted(std::span<const Tensor> inputs) { return promoted(Policy{}, inputs); }

void check_devices(Operands inputs) {
  const Operand* first = nullptr;
  for (const Operand& x : inputs) {
    if (!x.defined()) continue;
    if (first == nullptr) first = &x;
    if (x.device != first->device)
      throw DeviceError(text("inputs are on ", name_of(first->device), " and ", name_of(x.device),
                             "; move them to one device with to()"));
  }
}

void check_accepted(DType dtype, DTypes accepts) {
  if (accepts.contains(dtype)) return;
  const char* what = accepts == kFloating                       ? "floating dtypes; cast first, e.g. x.to(f32)"
                     : accepts == kNumbers                      ? "integers or floating dtypes; cast bool first"
                     : accepts == kIntegers                     ? "integers"
                     : accepts == (kIntegers | DTypes{boolean}) ? "integers or bool"
                     : accepts == (DTypes{f32, f64})            ? "f32 and f64; cast first, e.g. x.to(f32)"
                                                                : "another dtype";
  throw DtypeError(text(dtype, " is not accepted here; it takes ", what));
}

namespace {

/// The f32 inputs, one bit each, that the kernel itself rounds to `dtype`.
uint32_t rounded_by_kernel(const Policy& policy, DType dtype, std::span<const Tensor> inputs) {
  const DType lower = internal::modes().autocast;
  if (policy.rounded_inside == 0 || policy.autocast != Autocasting::lower || lower == f32 || dtype != lower) return 0;
  return inputs[0].size(0) >= kManyRows ? policy.rounded_inside : 0;
}

/// Casts the numeric inputs to their common dtype.
void cast_numeric(const Policy& policy, std::span<Tensor> inputs) {
  const DType dtype = common_dtype(policy, inputs);
  const uint32_t rounded = rounded_by_kernel(policy, dtype, inputs);
  bool numeric = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor& x = inputs[i];
    if (!x.defined() || !has_bit(policy.numeric, i)) continue;
    numeric = true;
    if (x.dtype() == dtype || (x.dtype() == f32 && has_bit(rounded, i))) continue;
    x = dtype == internal::modes().autocast ? autocast_copy(x, dtype) : apply(op::Cast{dtype}, x);
  }
  if (numeric) check_accepted(dtype, policy.accepts);
}

void broadcast_to_common_shape(std::span<Tensor> inputs) {
  Shape shape = inputs[0].shape();
  for (const Tensor& x : inputs.subspan(1)) shape = broadcast_shapes(shape, x.shape());
  for (Tensor& x : inputs)
    if (x.shape() != shape) x = apply(op::Expand{shape}, x);
}

}  // namespace

void prepare(const OpInfo& info, std::span<Tensor> inputs) {
  const Policy& policy = info.policy;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool absent = !inputs[i].defined() && has_bit(policy.optional, i);
    if (!absent && internal::modes().recording) check_version(inputs[i]);
  }
  if (!lift_to_samples(inputs)) {
    PerTensor<Operand> operands(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) operands.span()[i] = operand(inputs[i]);
    check_devices(operands.span());
  }
  cast_numeric(policy, inputs);
  if (policy.broadcasts) broadcast_to_common_shape(inputs);
  if (!policy.reads_masked)
    for (Tensor& x : inputs)
      if (x.defined() && x.layout().has_mask()) x = apply(op::Contiguous{}, x);
}

}  // namespace weft::dispatch
