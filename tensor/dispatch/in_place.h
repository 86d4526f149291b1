// Writes in place: element-wise ops that write to their first input, and updates of several tensors (optimizer steps).
#pragma once

#include <array>

#include "tensor/dispatch/apply.h"

namespace weft::dispatch {

/// Checks that the public function `name` may write to `self`: it has no mask, does not overlap itself, and is not,
/// while recording, a leaf (or a view of one) that requires a gradient. Returns whether the write will be recorded.
bool check_writable(const Tensor& self, std::string_view name, bool others_require_grad);
/// DtypeError if dtype `result` has a higher category (bool < integer < floating) than dtype `self`, to which it is to
/// be written.
void check_category(DType result, DType self);
/// `other`, or a copy of it if it overlaps `self`. For inputs that an op does not read at the position it writes, such
/// as an index and the values to be written there.
Tensor apart_from(const Tensor& self, const Tensor& other);
/// Raises the version for a write by `name` that is not recorded. It leaves a non-leaf's history untrue: its version
/// stays behind, and its use is refused.
void note_write(internal::TensorBody& body, const char* name);
/// A new tensor with the history of `self` before the write, used as the input of the recorded op.
Tensor before_write(const Tensor& self);
/// `source` on self's device. DeviceError if source is a sample of vmap and self is not.
Tensor on_device_of(const Tensor& self, const Tensor& source);
/// Copies the values of `from` to `to` (same shape; cast to its dtype). Not recorded.
void copy_into(const Tensor& from, const Tensor& to);
/// Adds `x` to the part of `buffer` that `part` describes, which may overlap itself. Not recorded.
void add_into(const Tensor& x, const Tensor& buffer, const View& part);

/// Runs an element-wise op and writes its result to `self`, its first input. `name` is the public function (`add_`). If
/// there is history, the op is recorded with the old value of `self` as its input. The result must have self's shape;
/// it is cast to self's dtype. `inputs` are self and the other inputs; they are replaced by the prepared inputs.
void apply_in_place(const OpInfo& info, const void* op, const char* name, Tensor& self, std::span<Tensor> inputs);
template <class Op, std::same_as<Tensor>... Others>
Tensor& apply_in_place(const Op& op, const char* name, Tensor& self, const Others&... others) {
  std::array<Tensor, 1 + sizeof...(Others)> inputs = {self, others...};
  apply_in_place(op_info<Op>, &op, name, self, inputs);
  return self;
}

/// Runs an update op (an optimizer step): it has no outputs and writes to some of its inputs (`Op::writes`), which must
/// be leaves or have no history. Not recorded. `name` is the function that error messages name.
void apply_update(const OpInfo& info, const void* op, uint32_t writes, const char* name,
                  std::span<const Tensor* const> inputs);
template <class Op, std::same_as<Tensor>... Inputs>
void apply_update(const Op& op, const char* name, const Inputs&... inputs) {
  const std::array<const Tensor*, sizeof...(Inputs)> pointers = {&inputs...};
  apply_update(op_info<Op>, &op, Op::writes, name, pointers);
}

}  // namespace weft::dispatch
