#include "tensor/dispatch/view_history.h"

#include <mutex>
#include <utility>

#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/ops/strided_scatter.h"
#include "tensor/ops/view.h"

namespace weft::dispatch {
namespace {

using internal::TensorBody;

/// Whether as_strided can express the view in terms of its base.
bool is_part_of_base(const TensorBody& view) {
  const TensorBody* base = base_in_memory(view);
  return base != nullptr && base->view.is_dense() && !view.view.has_mask() && base->dtype == view.dtype;
}

/// The position of the view's first element among the elements of its base, in the base's memory order.
int64_t offset_in_base(const TensorBody& view) {
  return view.view.numel() == 0 ? 0 : view.view.offset() - view.base->view.offset();
}

/// A dense tensor with its axes permuted into memory order, so that it is row-major.
Tensor in_memory_order(const Tensor& x) {
  return x.is_contiguous() ? x : apply(op::Permute{internal::outermost_first(x.layout())}, x);
}

/// Records `op` with the result `out`, which has no history yet.
template <class Op> void record_as(const Op& op, std::initializer_list<const Tensor*> inputs, Tensor out) {
  record({op_info<Op>, &op, {inputs.begin(), inputs.size()}, {&out, 1}});
}

/// Gives `body` the history of its alias `from`, which describes the present values of the memory, and returns the old
/// history. (Ops are recorded for an alias first, so that if recording throws, `body` still has its old history and is
/// known to be stale.)
IntrusivePtr<Provenance> take_history(TensorBody& body, const Tensor& from) {
  const TensorBody& now = internal::body(from);
  IntrusivePtr<Provenance> old = std::exchange(body.history, now.history);
  body.output_index = now.output_index;
  body.cut = now.cut;
  body.describe(body.storage->version());  // last: threads that see this version read the history without the lock
  return old;
}

/// Guards histories that a tensor takes when it is read: threads may read one tensor at the same time.
constinit std::mutex reading;

}  // namespace

const IntrusivePtr<TensorBody>& base_of(const Tensor& x) {
  const TensorBody& body = internal::body(x);
  return base_in_memory(body) != nullptr ? body.base : internal::TensorAccess::handle(x);
}

bool is_stale(const Tensor& x) {
  TensorBody& body = internal::body(x);
  if (body.described() == body.storage->version()) return false;
  const std::lock_guard lock(reading);
  const Provenance* history = body.history.get();
  // Optimizers write to leaves under NoGrad; views of a leaf are meant to show the new values.
  const bool exempt = history != nullptr && (history->is_leaf() || history->is_view_of_leaf());
  const uint64_t version = body.described(), current = body.storage->version();
  const bool stale = version != current && (history != nullptr ? !exempt : body.storage->recorded_version() > version);
  if (!stale) body.describe(current);
  return stale;
}

bool derive_history(const Tensor& view) {
  TensorBody& body = internal::body(view);
  if (!is_part_of_base(body) || body.base->described() != body.storage->version()) return false;
  // Also under NoGrad, as in backward() or a Function's forward: the view had its history before.
  const internal::ModeScope recorded(&internal::Modes::recording, true);
  const Tensor ordered = in_memory_order(internal::TensorAccess::make(body.base)), now = alias(view);
  record_as(op::AsStrided{view.shape(), view.layout().strides(), offset_in_base(body)}, {&ordered}, now);
  IntrusivePtr<Provenance> old;  // released without the lock: hooks may end with it, and may ask for other histories
  const std::lock_guard lock(reading);
  // Another thread may have been first; its result is the same.
  if (body.described() != body.storage->version()) old = take_history(body, now);
  return true;
}

void write_into_base(const Tensor& view) {
  const TensorBody& body = internal::body(view);
  if (!is_part_of_base(body)) return;
  const Tensor base = internal::TensorAccess::make(body.base);
  const Tensor old = before_write(base);
  internal::body(old).version = body.storage->version();  // no rule reads the old value
  const Tensor ordered = in_memory_order(old), written = alias(ordered);
  record_as(op::AsStridedScatter{view.shape(), view.layout().strides(), offset_in_base(body)}, {&ordered, &view},
            written);
  Tensor now = written;
  if (!base.is_contiguous()) {
    now = alias(base);
    record_as(op::Permute{internal::inverse_permutation(internal::outermost_first(base.layout()))}, {&written}, now);
  }
  take_history(*body.base, now);
}

}  // namespace weft::dispatch
