// Batching of segments.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/segment.h"

namespace weft::batching {

namespace detail {
/// Whether the lengths of each sample are 0 or more and add up to `size`.
inline bool are_lengths(const Tensor& lengths, int64_t size) {
  const Tensor all_lengths = dispatch::all_samples(lengths), sums = dispatch::all_samples(sum(lengths, -1));
  return all(all_lengths >= 0).item<bool>() && all(sums == size).item<bool>();
}
/// Samples that have lengths of their own: their segments are one list along the axis. `size` is that of the axis with
/// all slices of the segments, `after` that of the result's.
template <class Op>
std::vector<Tensor> segments_of_all(const Op& op, const Call& call, int64_t axis, int64_t size, int64_t after) {
  const Tensor lengths = call.whole(1);
  if (lengths.numel() == 0 || !are_lengths(lengths, size)) return one_by_one(call);
  const Tensor x = flatten(movedim(call.whole(0), 0, axis), axis, axis + 1);
  const Tensor out = call.run(op, {x, flatten(lengths)})[0];
  return {movedim(unflatten(out, axis, {call.size(), after}), axis, 0)};
}
inline constexpr auto reduce_segments = [](auto op, const Call& call) -> std::vector<Tensor> {
  const Tensor& x = call.inputs[0].x;
  const Tensor& lengths = call.inputs[1].x;
  if (call.is_batched(1))
    return segments_of_all(op, call, op.axis, x.size(op.axis + (call.is_batched(0) ? 1 : 0)), lengths.size(1));
  ++op.axis;
  return call.run(op, {call.whole(0), lengths});
};
}  // namespace detail

WEFT_BATCHING(SegmentSum) = detail::reduce_segments;
WEFT_BATCHING(SegmentReduce) = detail::reduce_segments;
WEFT_BATCHING(RepeatInterleave) = [](const op::RepeatInterleave& op, const Call& call) -> std::vector<Tensor> {
  if (!call.is_batched(1))
    return call.run(op::RepeatInterleave{op.axis + 1, op.size}, {call.whole(0), call.inputs[1].x});
  const op::RepeatInterleave all{op.axis, op.size * call.size()};
  return detail::segments_of_all(all, call, op.axis, op.size, op.size);
};

}  // namespace weft::batching
