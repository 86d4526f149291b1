#include "tensor/apply.h"

#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/op.h"
#include "tensor/ops/copy.h"

namespace weft {
namespace detail {

void copy_memory(const Tensor& from, const Tensor& to) { kernels::cpu::copy(operand(from), operand(to)); }

void add_memory(const Tensor& x, const Tensor& buffer, const View& part) {
  kernels::cpu::add_into(operand(x), {buffer.raw(), &part, buffer.dtype()});
}

void check_version(const Tensor& x) {
  TensorBody& body = x.body();
  Storage& storage = *body.storage;
  const Provenance* history = body.history.get();
  // What optimizers write to a leaf under NoGrad shows through its views, and is meant to.
  const bool exempt = history != nullptr && (history->is_leaf() || history->is_view_of_leaf());
  const bool stale = history != nullptr ? !exempt : storage.recorded_version() > body.version;
  if (!stale) {
    body.version = storage.version();
    return;
  }
  throw GradientError(
      text("an input of shape ", x.shape(), " shares memory that `", storage.writer() ? storage.writer() : "a write",
           "` changed through another tensor, so its history is no longer true; write through the tensor "
           "itself or to a clone(), or go on from detach()"));
}

Tensor unmasked(const Tensor& x) { return apply(op::Contiguous{}, x); }

void throw_not_expressible(const OpInfo& info, const Tensor& x) {
  throw ShapeError(text(info.name, " of shape ", x.shape(), " with strides ", x.layout().strides(),
                        " cannot be a view; use reshape(), which copies where it must"));
}

void record(const OpInfo& info, const void* op, std::span<const Tensor* const> inputs, std::span<Tensor> outputs) {
  const OpInfo* cut = nullptr;
  if (modes().recording) {
    for (const Tensor* x : inputs) {
      if (!x->defined()) continue;
      if (x->requires_grad()) {
        x->body().history->record(OpCall{info, op, inputs, outputs});
        cut = nullptr;
        break;
      }
      if (cut == nullptr) cut = x->body().cut;
    }
  }
  // The mark of an op that cut the path travels on, so that backward() can name it.
  if (cut != nullptr)
    for (Tensor& out : outputs) out.body().cut = cut;
  for (Observer* observer = modes().observer; observer != nullptr; observer = observer->next)
    observer->ran(info, op, inputs, outputs);
}

bool check_writable(const Tensor& self, std::string_view name, bool others_require_grad) {
  const View& view = self.layout();
  if (view.has_mask()) throw Error(text(name, " would write to a view with zero padding; write before pad()"));
  if (view.overlaps_itself())
    throw Error(text(name, " would write to a view that overlaps itself (strides ", view.strides(),
                     "); write to a contiguous() copy"));
  if (!modes().recording) return false;
  const Provenance* history = self.body().history.get();
  if (history != nullptr && history->requires_grad() && (history->is_leaf() || history->is_view_of_leaf()))
    throw GradientError(text(name, " would write to ", history->is_leaf() ? "a leaf" : "a view of a leaf",
                             " that requires a gradient; do it under NoGrad"));
  return self.requires_grad() || others_require_grad;
}

Tensor without_overlap(const Tensor& self, const Tensor& other) {
  if (!other.defined()) return other;
  if (is_masked(other)) return unmasked(other);
  if (!other.shares_storage(self) || other.layout() == self.layout()) return other;
  const auto [first, last] = self.layout().extent();
  const auto [low, high] = other.layout().extent();
  return high < first || last < low ? other : apply(op::Contiguous{}, other);
}

Tensor before_write(const Tensor& self) {
  const TensorBody& body = self.body();
  Tensor old(body.storage, body.view, body.dtype);
  old.body().history = body.history;
  old.body().output_index = body.output_index;
  old.body().version = body.version;
  old.body().cut = body.cut;
  return old;
}

void after_write(Tensor& self, const OpInfo& info, const void* op, const char* name,
                 std::span<const Tensor* const> inputs, bool recorded) {
  TensorBody& body = self.body();
  Storage& storage = *body.storage;
  storage.written_by(name);
  if (recorded) {
    body.history = nullptr;
    body.output_index = 0;
    body.version = storage.version();
    storage.set_recorded_version(storage.version());
    record(info, op, inputs, {&self, 1});
  } else {
    // A write that nothing records leaves a non-leaf's history untrue: its version stays behind, and its use is refused.
    const bool keeps_history = body.history != nullptr && !body.history->is_leaf();
    if (!keeps_history) body.version = storage.version();
  }
}

bool check_in_place_result(const Tensor& self, const Spec& spec) {
  if (spec.view.shape() != self.shape())
    throw ShapeError(
        text("the result has shape ", spec.view.shape(), " but is written in place to shape ", self.shape()));
  if (is_floating(spec.dtype) && !is_floating(self.dtype()))
    throw DtypeError(text("the result is ", spec.dtype, " and cannot be written in place to ", self.dtype(),
                          "; use the form that returns a new tensor"));
  return spec.dtype == self.dtype();
}

}  // namespace detail

Tensor apply_view(const AnyOp& op, const Tensor& x) {
  if (modes().recording) detail::check_input(x);
  std::optional<View> view = op.view(x.layout());
  if (!view) {
    if (!x.layout().has_mask()) detail::throw_not_expressible(op.info(), x);
    return apply_view(op, detail::unmasked(x));
  }
  Tensor out(x.storage_ptr(), *std::move(view), x.dtype());
  const Tensor* input = &x;
  if (x.body().history != nullptr || x.body().cut != nullptr || modes().observer != nullptr)
    detail::record(op.info(), op.get(), {&input, 1}, {&out, 1});
  return out;
}

}  // namespace weft
