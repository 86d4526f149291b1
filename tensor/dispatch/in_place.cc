#include "tensor/dispatch/in_place.h"

#include "tensor/core/error.h"
#include "tensor/core/view_overlap.h"
#include "tensor/dispatch/per_tensor.h"
#include "tensor/dispatch/view_history.h"
#include "tensor/ops/copy.h"

namespace weft::dispatch {

bool check_writable(const Tensor& self, std::string_view name, bool others_require_grad) {
  const View& view = self.layout();
  if (view.has_mask())
    throw Error(text(name, " would write to a view with zero padding; write before pad(), or to its contiguous()"));
  if (internal::body(self).copies_padded)
    throw Error(text(name,
                     " would write to a copy of a part of a view with zero padding, which the view does not see; write "
                     "before pad(), or to a clone()"));
  if (view.overlaps_itself())
    throw Error(text(name, " would write to a view that overlaps itself (strides ", view.strides(),
                     "); write to a contiguous() copy"));
  if (!internal::modes().recording) return false;
  check_input_version(self);
  const internal::TensorBody& body = internal::body(self);
  const auto refuse = [&](const Provenance* history, bool of_base) {
    if (history != nullptr && history->requires_grad() && (history->is_leaf() || history->is_view_of_leaf()))
      throw GradientError(text(name, " would write to ", of_base || !history->is_leaf() ? "a view of a leaf" : "a leaf",
                               " that requires a gradient; do it under NoGrad"));
  };
  refuse(body.history.get(), false);
  const bool is_view = base_in_memory(body) != nullptr;
  if (is_view) refuse(body.base->history.get(), true);  // the base became a leaf after the view was taken
  const bool recorded = self.requires_grad() || others_require_grad;
  if (recorded && is_view) check_input_version(internal::TensorAccess::make(body.base));
  return recorded;
}

namespace {

[[noreturn]] void throw_narrower(DType result, DType self) {
  throw DtypeError(text("the result is ", result, " and cannot be written in place to ", self,
                        "; use the form that returns a new tensor"));
}

}  // namespace

void check_category(DType result, DType self) {
  if (promotion_category(result) > promotion_category(self)) throw_narrower(result, self);
}

Tensor apart_from(const Tensor& self, const Tensor& other) {
  if (!other.shares_storage(self) || other.layout().has_mask()) return other;
  return may_overlap(self.layout(), other.layout()) ? apply(op::Contiguous{}, other) : other;
}

namespace {

/// `other`, or a copy if it overlaps `self` and is not the same view of the memory.
Tensor without_overlap(const Tensor& self, const Tensor& other) {
  if (!other.defined()) return other;
  if (other.layout().has_mask()) return apply(op::Contiguous{}, other);
  const bool same = other.shares_storage(self) && other.layout() == self.layout();
  return same ? other : apart_from(self, other);
}

/// Whether `x` is `self` or a view of the same elements (`x.add_(x.view(...))`). A view takes its history from self's,
/// which the write is about to replace.
bool shows_the_same(const Tensor& x, const Tensor& self) {
  return x.is_same(self) || (x.defined() && x.shares_storage(self) && x.layout() == self.layout());
}

/// Records the write `call` as the history of `self`. If recording throws (a saved-tensor hook may), `self` keeps its
/// old history, which is stale now: using it is an error.
void record_write(const Tensor& self, const OpCall& call) {
  internal::TensorBody& body = internal::body(self);
  const IntrusivePtr<Provenance> history = std::exchange(body.history, nullptr);
  const uint16_t output_index = std::exchange(body.output_index, 0);
  const uint64_t version = std::exchange(body.version, body.storage->version());
  try {
    record(call);
    if (body.base) write_into_base(self);
  } catch (...) {
    body.history = history;
    body.output_index = output_index;
    body.version = version;
    throw;
  }
}

/// Raises the version; if the write is recorded, sets the new history, which all handles of `self` share.
void after_write(Tensor& self, const OpInfo& info, const void* op, const char* name,
                 std::span<const Tensor* const> inputs, bool recorded) {
  internal::TensorBody& body = internal::body(self);
  if (!recorded) return note_write(body, name);
  Storage& storage = *body.storage;
  storage.written_by(name);
  const uint64_t recorded_before = storage.recorded_version();
  storage.set_recorded_version(storage.version());
  try {
    record_write(self, {info, op, inputs, {&self, 1}});
  } catch (...) {
    storage.set_recorded_version(recorded_before);
    throw;
  }
}

/// DeviceError if `prepared` is on another device than `self`: a sample of vmap would be written to an outer tensor.
void check_device_written(const Tensor& self, const Tensor& prepared) {
  if (self.device() == prepared.device()) return;
  throw DeviceError(
      "it would write what differs between vmap's samples to a tensor that does not; use the form that returns a new "
      "tensor, or write to zeros_like() of an argument");
}

/// Throws if a result with this spec cannot be written to `self`. Returns whether the kernel can write it there itself.
bool check_in_place_result(const Tensor& self, const Spec& spec) {
  if (spec.view.shape() != self.shape())
    throw ShapeError(
        text("the result has shape ", spec.view.shape(), " but is written in place to shape ", self.shape()));
  if (is_floating(spec.dtype) && !is_floating(self.dtype())) throw_narrower(spec.dtype, self.dtype());
  return spec.dtype == self.dtype();
}

}  // namespace

void note_write(internal::TensorBody& body, const char* name) {
  body.storage->written_by(name);
  const bool keeps_history = body.history != nullptr && !body.history->is_leaf();
  if (!keeps_history) body.version = body.storage->version();
}

Tensor before_write(const Tensor& self) {
  const internal::TensorBody& body = internal::body(self);
  const Tensor old = alias(self);
  internal::TensorBody& copy = internal::body(old);
  copy.history = body.history;
  copy.output_index = body.output_index;
  copy.version = body.version;
  copy.cut = body.cut;
  return old;
}

Tensor on_device_of(const Tensor& self, const Tensor& source) {
  const bool sample = source.device().kind == DeviceKind::vmap && self.device().kind != DeviceKind::vmap;
  if (sample) check_device_written(self, source);
  return source.to(self.device());
}

void copy_into(const Tensor& from, const Tensor& to) {
  const std::array<Operand, 2> in = {operand(to), operand(from)};
  const Tensor* pointers[] = {&to, &from};
  Tensor result = to;
  const op::CopyFrom copy;
  run_erased({op_info<op::CopyFrom>, &copy, pointers, {&result, 1}}, in, {in.data(), 1});
}

void add_into(const Tensor& given, const Tensor& buffer, const View& part) {
  const Tensor x = given.layout().has_mask() ? apply(op::Contiguous{}, given) : given;
  const std::array<Operand, 2> in = {operand(buffer).with(part), operand(x)};
  const Tensor* pointers[] = {&buffer, &x};
  const op::AddInto add;
  run_erased({op_info<op::AddInto>, &add, pointers, {}}, in, {});
}

void apply_in_place(const OpInfo& info, const void* op, const char* name, Tensor& self, std::span<Tensor> inputs) {
  bool history = false;
  for (const Tensor& x : inputs.subspan(1)) history = x.requires_grad() || history;  // of each: a view follows its base
  const bool recorded = check_writable(self, name, history);
  for (Tensor& x : inputs.subspan(1)) x = without_overlap(self, x);
  for (Tensor& x : inputs)
    if (recorded && shows_the_same(x, self)) x = before_write(x);
  prepare(info, inputs);
  check_device_written(self, inputs[0]);
  PerTensor<Operand> operands(inputs.size());
  PerTensor<const Tensor*> handles(inputs.size());
  const std::span<Operand> in = operands.span();
  const std::span<const Tensor*> pointers = handles.span();
  for (size_t i = 0; i < inputs.size(); ++i) {
    in[i] = operand(inputs[i]);
    pointers[i] = &inputs[i];
  }
  Spec spec;
  info.infer(op, in, &spec);
  const bool direct = check_in_place_result(self, spec);
  Tensor result = direct ? self : allocate(spec, self.device());
  const Operand out = operand(result);
  try {
    run_erased({info, op, pointers, {&result, 1}}, in, {&out, 1});
  } catch (...) {
    // A kernel that finds a bad value (a divisor 0, an index out of range) has written what came before it.
    if (direct) note_write(internal::body(self), name);
    throw;
  }
  if (direct) return after_write(self, info, op, name, pointers, recorded);
  // The result has a dtype of its own: the op is recorded with it, and its cast to self's as a copy.
  if (recorded) record({info, op, pointers, {&result, 1}});
  const op::CopyFrom copy;
  std::array<Tensor, 2> written = {self, result};
  apply_in_place(op_info<op::CopyFrom>, &copy, name, self, written);
}

void apply_update(const OpInfo& info, const void* op, uint32_t writes, const char* name,
                  std::span<const Tensor* const> inputs) {
  PerTensor<Operand> operands(inputs.size());
  const std::span<Operand> in = operands.span();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if ((writes >> i & 1u) && inputs[i]->defined()) (void)check_writable(*inputs[i], name, false);
    in[i] = operand(*inputs[i]);
  }
  check_devices(in);
  info.infer(op, in, nullptr);
  run_erased({info, op, inputs, {}}, in, {});
  for (size_t i = 0; i < inputs.size(); ++i)
    if ((writes >> i & 1u) && inputs[i]->defined()) internal::storage(*inputs[i]).written_by(name);
}

}  // namespace weft::dispatch
