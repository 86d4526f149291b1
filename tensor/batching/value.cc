#include "tensor/batching/value.h"

#include <algorithm>

#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/strided_scatter.h"
#include "tensor/functions/view.h"
#include "tensor/ops/view.h"

namespace weft::batching {
namespace {

/// Axes of a sample as axes of the batch: after the batch axis, if there is one.
IntList behind_batch(const IntList& axes, bool batched) {
  IntList out;
  if (batched) out.push_back(0);
  for (int64_t axis : axes) out.push_back(axis + (batched ? 1 : 0));
  return out;
}

Shape batch_shape(const Tensor& x, bool batched, const Shape& sample) {
  Shape out;
  if (batched) out.push_back(x.size(0));
  for (int64_t size : sample) out.push_back(size);
  return out;
}

/// The 1-d samples of `flat` in the shape and memory order of `view`, which is dense and has all their elements.
Tensor reordered(const Tensor& flat, bool batched, const View& view) {
  const IntList order = internal::outermost_first(view);
  Shape sorted;
  for (const int64_t axis : order) sorted.push_back(view.dim(axis));
  const Tensor x = reshape(flat, batch_shape(flat, batched, sorted));
  if (std::is_sorted(order.begin(), order.end())) return x;
  return permute(x, behind_batch(internal::inverse_permutation(order), batched));
}

bool covers(const View& view, int64_t elements) {
  return view.numel() == elements && view.offset() == 0 && view.is_dense();
}

/// `view` with size 1 along axes of stride 0.
View without_repetitions(const View& view) {
  std::vector<Interval> bounds;
  for (int64_t axis = 0; axis < view.rank(); ++axis)
    bounds.push_back({0, view.stride(axis) == 0 && view.dim(axis) > 1 ? 1 : view.dim(axis)});
  return view.shrink(bounds);
}

}  // namespace

void Value::set(uint64_t level, const Batch& batch, const View& view) {
  level_ = level;
  // A new body: the tensor's own may get other memory, as nn::functional_call() does with a weight.
  whole_ = {dispatch::before_write(batch.x), batch.batched};
  view_ = view;
  version_ = internal::storage(batch.x).version();
  flat_ = Tensor();
  history_lost_ = false;
  given_ = false;
}

void Value::keep_old_values() {
  if (!given_) return;
  check_unwritten();
  set(level_, {clone(whole_.x), whole_.batched}, view_);
}

bool Value::needs_gradient() const { return dispatch::needs_gradient(whole_.x); }

bool Value::loses_history() const {
  return !internal::modes().recording && !empty() && (history_lost_ || needs_gradient());
}

void Value::check_history() const {
  if (!history_lost_ || !internal::modes().recording) return;
  throw GradientError(
      "a sample of vmap has a history that does not give its values: a write under NoGrad changed them; write while "
      "recording, or to a clone(), or go on from detach(), which has the new values and no history");
}

void Value::check_unwritten() const {
  const Storage& storage = internal::storage(whole_.x);
  if (storage.version() == version_) return;
  throw GradientError(text("a tensor of shape ", whole_.x.shape(), " was written by `",
                           storage.writer() ? storage.writer() : "a write",
                           "` while vmap reads it; write to a clone()"));
}

Tensor Value::flat() {
  if (flat_.defined()) return flat_;
  const Tensor& x = whole_.x;
  const Tensor ordered = permute(x, behind_batch(internal::outermost_first(view_), whole_.batched));
  Tensor out = reshape(ordered, batch_shape(x, whole_.batched, {view_.numel()}));
  // Not cached if made without recording: later calls that record would get a tensor without history.
  if (internal::modes().recording || !dispatch::needs_gradient(x)) flat_ = out;
  return out;
}

op::AsStrided Value::part_of_flat(const View& view, bool batched, int64_t size) const {
  if (!batched) return {view.shape(), view.strides(), view.offset()};
  Shape shape = {size};
  Strides strides = {view_.numel()};
  for (int64_t axis = 0; axis < view.rank(); ++axis) {
    shape.push_back(view.dim(axis));
    strides.push_back(view.stride(axis));
  }
  return {shape, strides, view.offset()};
}

Batch Value::through(const View& view) {
  check_unwritten();
  check_history();
  if (view == view_) return whole_;
  const bool batched = whole_.batched;
  if (view.numel() == 0) {  // a part of the batch, for its history
    const Shape shape = batch_shape(whole_.x, batched, view.shape());
    const Tensor& x = whole_.x;
    return {reshape(x.numel() == 0 ? x : slice(flat(), -1, 0, 0), shape), batched};
  }
  if (const View::Mask* mask = view.mask()) {
    const Batch inside = through(view.shrink(*mask));
    std::vector<Padding> padding;
    if (batched) padding.emplace_back(0, 0);
    for (int64_t axis = 0; axis < view.rank(); ++axis) {
      const Interval seen = (*mask)[static_cast<size_t>(axis)];
      padding.emplace_back(seen.begin, view.dim(axis) - seen.end);
    }
    return {pad(inside.x, padding), batched};
  }
  const View core = without_repetitions(view);
  if (core.shape() != view.shape()) {
    const Tensor x = through(core).x;
    return {expand(x, batch_shape(x, batched, view.shape())), batched};
  }
  const Tensor all = flat();
  if (covers(view, view_.numel())) return {reordered(all, batched, view), batched};
  return {dispatch::apply_view(AnyOp(part_of_flat(view, batched, batched ? all.size(0) : 1)), contiguous(all)),
          batched};
}

void Value::set_flat(const Tensor& flat, bool batched) {
  set(level_, {flat, batched}, View::contiguous({flat.size(-1)}));
}

Value::FlatPart Value::flat_part(const View& view, const Batch& part, int64_t size) {
  const bool batched = part.batched || whole_.batched;
  {
    const Batch all = through(View::contiguous({view_.numel()}));
    const Tensor before = batched && !all.batched ? expand(all.x, {size, all.x.size(0)}) : all.x;
    set_flat(contiguous(before), batched);
  }
  op::AsStrided place = part_of_flat(view, batched, size);
  const Tensor values = batched && !part.batched ? expand(part.x, place.shape) : part.x;
  return {std::move(place), values, batched};
}

/// Whether no other tensor has the memory of whole_, and no history is lost if `values` are written to it.
bool Value::is_sole_owner(const Tensor& values) const {
  const Storage& storage = internal::storage(whole_.x);
  return whole_.x.device() == values.device() && internal::is_sole_handle(whole_.x) && storage.unique() &&
         !storage.is_borrowed() && !needs_gradient() && !dispatch::needs_gradient(values);
}

template <class Write> void Value::write_in_place(const FlatPart& part, const Write& write) {
  const internal::ModeScope unrecorded(&internal::Modes::recording, false);
  write(as_strided(whole_.x, part.place.shape, part.place.strides, part.place.offset));
  set_flat(Tensor(whole_.x), part.batched);
}

void Value::write(const View& view, const Batch& with, int64_t size) {
  const FlatPart part = flat_part(view, with, size);
  if (is_sole_owner(part.values)) return write_in_place(part, [&](Tensor at) { at.copy_(part.values); });
  const auto& [shape, strides, offset] = part.place;
  set_flat(as_strided_scatter(whole_.x, part.values, shape, strides, offset), part.batched);
}

void Value::add(const View& view, const Batch& with, int64_t size) {
  const FlatPart part = flat_part(view, with, size);
  if (!view.overlaps_itself() && is_sole_owner(part.values))
    return write_in_place(part, [&](Tensor at) { at.add_(part.values); });
  const op::ViewAdjoint scatter{AnyOp(part.place), whole_.x.shape()};
  set_flat(whole_.x + dispatch::apply(scatter, part.values), part.batched);
}

}  // namespace weft::batching
