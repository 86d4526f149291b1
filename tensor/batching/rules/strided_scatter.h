// Batching of writes through views.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/strided_scatter.h"

namespace weft::batching {

namespace detail {
/// An `Op` on a part of contiguous memory of `count` elements; the part is the same in each of `size` samples.
template <class Op> Op in_each_sample(const View& part, int64_t count, int64_t size) {
  Op out{{size}, {count}, part.offset()};
  for (int64_t axis = 0; axis < part.rank(); ++axis) {
    out.shape.push_back(part.dim(axis));
    out.strides.push_back(part.stride(axis));
  }
  return out;
}
}  // namespace detail

WEFT_BATCHING(AsStridedScatter) = [](const op::AsStridedScatter& op, const Call& call) -> std::vector<Tensor> {
  if (op.shape.rank() == kMaxAxes) return one_by_one(call);  // no room for the axis of the batch
  const Tensor x = call.whole(0);
  const View memory = View::contiguous(Shape(x.shape().begin() + 1, x.shape().end())), part = op.part_of(memory);
  if (part.numel() == 0 || call.size() == 0) return one_by_one(call);
  return call.run(detail::in_each_sample<op::AsStridedScatter>(part, memory.numel(), call.size()), {x, call.whole(1)});
};

}  // namespace weft::batching
