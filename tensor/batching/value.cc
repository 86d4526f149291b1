#include "tensor/batching/value.h"

#include <algorithm>

#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tensor/ops/view.h"

namespace weft::batching {
namespace {

/// The axes of `view`, those that lie furthest apart in memory first.
IntList outermost_first(const View& view) {
  IntList axes;
  for (int64_t axis = 0; axis < view.rank(); ++axis) axes.push_back(axis);
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) { return view.stride(a) > view.stride(b); });
  return axes;
}

/// `axes` behind a batch axis, where there is one.
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

/// A dense view of all `flat` elements: a reshape and a permutation.
Tensor reordered(const Tensor& flat, bool batched, const View& view) {
  const IntList order = outermost_first(view);
  Shape sorted;
  IntList back(view.shape());
  for (size_t i = 0; i < order.size(); ++i) {
    sorted.push_back(view.dim(order[i]));
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  const Tensor x = reshape(flat, batch_shape(flat, batched, sorted));
  return order == back && std::is_sorted(order.begin(), order.end()) ? x : permute(x, behind_batch(back, batched));
}

bool covers(const View& view, int64_t elements) {
  return view.numel() == elements && view.offset() == 0 && view.is_dense();
}

/// `view` with size 1 where it repeats elements.
View without_repetitions(const View& view) {
  std::vector<Interval> bounds;
  for (int64_t axis = 0; axis < view.rank(); ++axis)
    bounds.push_back({0, view.stride(axis) == 0 && view.dim(axis) > 1 ? 1 : view.dim(axis)});
  return view.shrink(bounds);
}

}  // namespace

void Value::set(uint64_t level, const Batch& batch, const View& view) {
  level_ = level;
  // Whoever holds the tensor may give its handle other memory, as nn::functional_call() does with a weight.
  whole_ = {dispatch::before_write(batch.x), batch.batched};
  view_ = view;
  version_ = internal::storage(batch.x).version();
  flat_ = Tensor();
  history_lost_ = false;
}

bool Value::loses_history() const {
  return !internal::modes().recording && !empty() && (history_lost_ || dispatch::needs_gradient(whole_.x));
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
  const Tensor ordered = permute(x, behind_batch(outermost_first(view_), whole_.batched));
  Tensor out = reshape(ordered, batch_shape(x, whole_.batched, {view_.numel()}));
  // What was made without recording would lose the history for those who record.
  if (internal::modes().recording || !dispatch::needs_gradient(x)) flat_ = out;
  return out;
}

AnyOp Value::part_of_flat(const View& view, bool batched) const {
  if (!batched) return AnyOp(op::AsStrided{view.shape(), view.strides(), view.offset()});
  Shape shape = {whole_.x.size(0)};
  Strides strides = {view_.numel()};
  for (int64_t axis = 0; axis < view.rank(); ++axis) {
    shape.push_back(view.dim(axis));
    strides.push_back(view.stride(axis));
  }
  return AnyOp(op::AsStrided{shape, strides, view.offset()});
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
  return {dispatch::apply_view(part_of_flat(view, batched), contiguous(all)), batched};
}

void Value::set_flat(const Tensor& flat, bool batched) {
  set(level_, {flat, batched}, View::contiguous({flat.size(-1)}));
}

Value::FlatPart Value::flat_part(const View& view, const Batch& part, int64_t size) {
  const bool batched = part.batched || whole_.batched;
  const Batch all = through(View::contiguous({view_.numel()}));
  const Tensor before = batched && !all.batched ? expand(all.x, {size, all.x.size(0)}) : all.x;
  const Tensor values = batched && !part.batched ? expand(part.x, batch_shape(before, true, part.x.shape())) : part.x;
  const int64_t elements = view_.numel();
  set_flat(contiguous(before), batched);
  return {{part_of_flat(view, batched), batch_shape(before, batched, {elements})}, values, batched};
}

void Value::write(const View& view, const Batch& part, int64_t size) {
  const auto [scatter, values, batched] = flat_part(view, part, size);
  const Tensor written = dispatch::apply(scatter, ones(values.shape(), i32, values.device()));
  const DType dtype = whole_.x.dtype();
  const Tensor scattered = dispatch::apply(scatter, cast(values, dtype == boolean ? u8 : dtype));
  set_flat(where(ne(written, 0), cast(scattered, dtype), whole_.x), batched);
}

void Value::add(const View& view, const Batch& part, int64_t size) {
  const auto [scatter, values, batched] = flat_part(view, part, size);
  set_flat(whole_.x + dispatch::apply(scatter, values), batched);
}

}  // namespace weft::batching
