// Writes in place: element-wise ops written into their first input, and updates of several tensors (optimizer steps).
#pragma once

#include "tensor/dispatch/apply.h"

namespace weft::dispatch {

/// What has to hold before `self` is written by the public function `name`: unmasked, no overlap with itself, not a
/// leaf (or a view of one) that requires a gradient while recording. Returns whether the write will be recorded.
bool check_writable(const Tensor& self, std::string_view name, bool others_require_grad);
/// DtypeError where a result of dtype `result` is of a wider category than the tensor of dtype `self` that it is to be
/// written to: floating beside integers, those beside bool.
void check_category(DType result, DType self);
/// `other`, or a copy of it where it overlaps `self` at all: what an op reads elsewhere than it writes, such as an
/// index and the values that go where it says.
Tensor apart_from(const Tensor& self, const Tensor& other);
/// The old history of `self` as a tensor of its own, for the record.
Tensor before_write(const Tensor& self);
/// `source` on self's device. DeviceError where it is a sample of vmap and self is not.
Tensor on_device_of(const Tensor& self, const Tensor& source);
/// The values of `from` into `to` (same shape, cast), without any record.
void copy_into(const Tensor& from, const Tensor& to);
/// Adds `x` into the part of `buffer` that `part` describes, without any record; the part may overlap itself.
void add_into(const Tensor& x, const Tensor& buffer, const View& part);

/// An element-wise op written into its first input, `name` being the public function (`add_`): recorded as the op, with
/// the old value of `self` as its input, when there is history. The result must have self's shape; it is cast to self's
/// dtype. `inputs`: self and the others; they become what the op took.
void apply_in_place(const OpInfo& info, const void* op, const char* name, Tensor& self, std::span<Tensor> inputs);
template <class Op, std::same_as<Tensor>... Others>
Tensor& apply_in_place(const Op& op, const char* name, Tensor& self, const Others&... others) {
  std::array<Tensor, 1 + sizeof...(Others)> inputs = {self, others...};
  apply_in_place(op_info<Op>, &op, name, self, inputs);
  return self;
}

/// An op without outputs that writes to some of its inputs (`Op::writes`), which are leaves or have no history:
/// optimizer steps. Nothing is recorded; `name` is the writer in messages.
void apply_update(const OpInfo& info, const void* op, uint32_t writes, const char* name,
                  std::span<const Tensor* const> inputs);
template <class Op, std::same_as<Tensor>... Inputs>
void apply_update(const Op& op, const char* name, const Inputs&... inputs) {
  const std::array<const Tensor*, sizeof...(Inputs)> pointers = {&inputs...};
  apply_update(op_info<Op>, &op, Op::writes, name, pointers);
}

}  // namespace weft::dispatch
