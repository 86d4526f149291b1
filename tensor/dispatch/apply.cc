#include "tensor/dispatch/apply.h"

#include <new>
#include <stdexcept>

#include "tensor/dispatch/backend.h"
#include "tensor/dispatch/observer.h"
#include "tensor/dispatch/per_tensor.h"
#include "tensor/dispatch/view_history.h"
#include "tensor/ops/copy.h"

namespace weft::dispatch {

void check_version(const Tensor& x) {
  if (!is_stale(x) || derive_history(x)) return;
  const internal::TensorBody& body = internal::body(x);
  const char* writer = body.storage->writer();
  const std::string what = text("an input of shape ", x.shape(), " has "),
                    write = text('`', writer ? writer : "a write", "` has since ");
  if (body.history == nullptr)
    throw GradientError(text(what, "no history, as from detach(), but ", write, "recorded new values in its memory ",
                             "through another tensor; use that tensor, or detach() again for its values alone; a "
                             "clone() before the write keeps the old ones"));
  if (body.storage->recorded_version() > body.version)
    throw GradientError(text(what, "the history of older values: ", write, "written through another tensor, which ",
                             "this view cannot follow (its padding or gaps); take the view again after the write"));
  throw GradientError(
      text(what, "a history that does not give its values: ", write, "changed its memory unrecorded, under NoGrad, ",
           "through an alias such as detach() or as recording failed; write to the tensor itself while recording, or ",
           "to a clone(), or go on from detach(), which has the new values and no history"));
}

IntrusivePtr<Storage> allocate_storage(const Spec& spec, Device device) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(spec.view.numel(), static_cast<int64_t>(size_of(spec.dtype)), &bytes)) [[unlikely]]
    throw ShapeError(text("the bytes of a result of shape ", spec.view.shape(), " ", spec.dtype, " overflow 64 bits"));
  try {
    return Storage::allocate(static_cast<size_t>(bytes), device);
  } catch (const MemoryError& error) {
    throw MemoryError(
        text(error.detail, "; a result of shape ", spec.view.shape(), " ", spec.dtype, " was to be stored"));
  }
}

Tensor unshared(const Tensor& x, const Tensor& source) { return x.shares_storage(source) ? apply(op::Clone{}, x) : x; }

Tensor alias(const Tensor& x) { return internal::make_tensor(internal::storage_ptr(x), x.layout(), x.dtype()); }

void rethrow_from_kernel() {
  constexpr const char* kNoRoom = "out of memory: the op's working memory";
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw MemoryError(kNoRoom);
  } catch (const std::length_error&) {  // a list that no address space holds
    throw MemoryError(kNoRoom);
  }
}

void run_erased(const OpCall& call, Operands in, Operands out) {
  if (is_observed()) {
    ObservedEvent event(event_of(call));
    const internal::Unobserved unobserved;
    run_erased(call, in, out);
    event.set_outputs(call.outputs);
    return;
  }
  Device device;
  for (const Operand& x : in)
    if (x.defined()) device = x.device;
  if (!out.empty()) device = out[0].device;
  if (!device.is_cpu()) return backend_of(device).run(device.index, call.info, call.op, in, out);
  try {
    call.info.run[0](call.op, in, out);
  } catch (...) {
    rethrow_from_kernel();
  }
}

namespace {
/// Allocates the results on `device`, with the layouts and dtypes that `infer` returns.
void allocate_results(const OpInfo& info, const void* op, Operands in, Device device, std::span<Tensor> results) {
  if (results.size() == 1) {
    Spec spec;
    info.infer(op, in, &spec);
    results[0] = allocate(std::move(spec), device);
    return;
  }
  std::vector<Spec> specs(results.size());
  info.infer(op, in, specs.data());
  for (size_t i = 0; i < specs.size(); ++i) results[i] = allocate(std::move(specs[i]), device);
}
}  // namespace

void apply_erased(const OpInfo& info, const void* op, std::span<Tensor> inputs, std::span<Tensor> results,
                  Device device) {
  if (!inputs.empty()) prepare(info, inputs);
  PerTensor<Operand> operands(inputs.size()), outputs(results.size());
  PerTensor<const Tensor*> handles(inputs.size());
  const std::span<Operand> in = operands.span(), out = outputs.span();
  const std::span<const Tensor*> pointers = handles.span();
  bool history = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in[i] = operand(inputs[i]);
    pointers[i] = &inputs[i];
    if (in[i].defined()) device = in[i].device;
    history = history || has_history(inputs[i]);
  }
  allocate_results(info, op, in, device, results);
  for (size_t i = 0; i < results.size(); ++i) out[i] = operand(results[i]);
  const OpCall call{info, op, pointers, results};
  run_erased(call, in, out);
  if (history) record(call);
}

namespace {
/// Whether nothing else holds the memory; the base of a view that only the view holds does not count.
bool owns_storage_alone(const internal::TensorBody& body) {
  return body.storage->unique() ||
         (base_in_memory(body) != nullptr && body.base->unique() && body.storage->references() == 2);
}
}  // namespace

bool may_overwrite(const OpInfo& info, std::span<const Tensor* const> inputs, size_t index, const Spec& spec) {
  const Tensor& x = *inputs[index];
  const internal::TensorBody& body = internal::body(x);
  if (!internal::is_sole_handle(x) || !owns_storage_alone(body) || body.storage->is_borrowed()) return false;
  if (body.dtype != spec.dtype || body.view.has_mask() || body.view.shape() != spec.view.shape() ||
      body.view.strides() != spec.view.strides())
    return false;
  // A sample of vmap gets a new batch by a write, so that nothing is saved; and one under NoGrad would lose a history.
  if (internal::needs_separate_ops() || body.storage->device().kind == DeviceKind::vmap) return false;
  if (!internal::modes().recording) return true;
  for (const Tensor* input : inputs) {
    if (!input->requires_grad()) continue;
    const Provenance& history = *internal::body(*input).history;
    if (input == &x && (history.is_leaf() || history.is_view_of_leaf())) return false;
    return !history.would_keep(info, inputs, index);
  }
  return true;
}

void record(const OpCall& call) {
  const OpInfo* cut = nullptr;
  if (!internal::modes().recording) return;
  for (const Tensor* x : call.inputs) {
    if (!x->defined()) continue;
    if (x->requires_grad()) return internal::body(*x).history->record(call);
    if (cut == nullptr) cut = internal::body(*x).cut;
  }
  // The mark of an op that cut the path is handed on, so that backward() can name it.
  if (cut != nullptr)
    for (Tensor& out : call.outputs) internal::body(out).cut = cut;
}

Tensor apply_view(const OpInfo& info, const void* op, std::optional<View> view, const Tensor& x) {
  // detach() must work on a tensor whose history is out of date.
  if (internal::modes().recording && &info != &op_info<op::Detach>) {
    const internal::TensorBody& body = internal::body(x);
    if (body.described() != body.storage->version()) check_version(x);
  }
  if (!view) [[unlikely]] {
    if (!x.layout().has_mask())
      throw ShapeError(text(info.name, " of shape ", x.shape(), " with strides ", x.layout().strides(),
                            " cannot be a view; use reshape(), which copies where it must"));
    const Tensor plain = apply(op::Contiguous{}, x);
    internal::body(plain).copies_padded = true;
    return apply_view(info, op, info.view(op, plain.layout()), plain);
  }
  Tensor out = internal::make_tensor(internal::storage_ptr(x), *std::move(view), x.dtype());
  internal::body(out).copies_padded = internal::body(x).copies_padded;
  if (internal::modes().recording && &info != &op_info<op::Detach>) internal::body(out).base = base_of(x);
  const Tensor* input = &x;
  const OpCall call{info, op, {&input, 1}, {&out, 1}};
  if (is_observed()) observe(call);
  if (has_history(x)) record(call);
  return out;
}

}  // namespace weft::dispatch
