#include "tensor/dispatch/view_history.h"

#include <algorithm>
#include <mutex>

#include "tensor/dispatch/in_place.h"
#include "tensor/ops/strided_scatter.h"
#include "tensor/ops/view.h"

namespace weft::dispatch {
namespace {

using internal::TensorBody;

/// Whether strides say which elements of the base a view shows.
bool is_part_of_base(const TensorBody& view) {
  return view.base && view.base->view.is_dense() && !view.view.has_mask() && view.base->dtype == view.dtype;
}

/// The axes of a dense view from the outermost in memory to the innermost.
IntList memory_order(const View& x) {
  IntList axes;
  for (int64_t axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) {
    const size_t i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    // An axis of size 1 may have any stride: it goes to the front, where it changes nothing.
    if ((x.shape()[i] == 1) != (x.shape()[j] == 1)) return x.shape()[i] == 1;
    return x.shape()[i] != 1 && x.strides()[i] > x.strides()[j];
  });
  return axes;
}

IntList inverse_of(const IntList& axes) {
  IntList out(axes.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) out[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  return out;
}

/// Where the elements of `view` are among those of its base, counted in the base's memory order.
int64_t offset_in_base(const TensorBody& view) {
  return view.view.numel() == 0 ? 0 : view.view.offset() - view.base->view.offset();
}

/// A dense tensor with its axes in memory order: row-major.
Tensor in_memory_order(const Tensor& x) {
  return x.is_contiguous() ? x : apply(op::Permute{memory_order(x.layout())}, x);
}

/// Records `op` with the result `out`, which has no history yet.
template <class Op> void record_as(const Op& op, std::initializer_list<const Tensor*> inputs, Tensor out) {
  record({op_info<Op>, &op, {inputs.begin(), inputs.size()}, {&out, 1}});
}

/// Gives `body` the history of `from`, which describes the memory as it is now. What is recorded is recorded as that of
/// an alias and then taken: where recording throws, `body` still has its old history, and is known to be behind.
void take_history(TensorBody& body, const Tensor& from) {
  const TensorBody& now = internal::body(from);
  body.history = now.history;
  body.output_index = now.output_index;
  body.cut = now.cut;
  body.describe(body.storage->version());  // last: threads that see this version read the history without the lock
}

/// Guards histories that a tensor takes when it is read: threads may read one tensor at the same time.
constinit std::mutex reading;

}  // namespace

const IntrusivePtr<TensorBody>& base_of(const Tensor& x) {
  const TensorBody& body = internal::body(x);
  return body.base ? body.base : internal::TensorAccess::handle(x);
}

bool is_stale(const Tensor& x) {
  TensorBody& body = internal::body(x);
  if (body.described() == body.storage->version()) return false;
  const std::lock_guard lock(reading);
  const Provenance* history = body.history.get();
  // What optimizers write to a leaf under NoGrad shows through its views, and is meant to.
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
  const Tensor lined = in_memory_order(internal::TensorAccess::make(body.base)), now = alias(view);
  record_as(op::AsStrided{view.shape(), view.layout().strides(), offset_in_base(body)}, {&lined}, now);
  const std::lock_guard lock(reading);
  // Another thread may have been first; its result is the same.
  if (body.described() != body.storage->version()) take_history(body, now);
  return true;
}

void write_into_base(const Tensor& view) {
  const TensorBody& body = internal::body(view);
  if (!is_part_of_base(body)) return;
  const Tensor base = internal::TensorAccess::make(body.base);
  const Tensor old = before_write(base);
  internal::body(old).version = body.storage->version();  // no rule reads the old value
  const Tensor lined = in_memory_order(old), written = alias(lined);
  record_as(op::AsStridedScatter{view.shape(), view.layout().strides(), offset_in_base(body)}, {&lined, &view},
            written);
  Tensor now = written;
  if (!base.is_contiguous()) {
    now = alias(base);
    record_as(op::Permute{inverse_of(memory_order(base.layout()))}, {&written}, now);
  }
  take_history(*body.base, now);
}

}  // namespace weft::dispatch
