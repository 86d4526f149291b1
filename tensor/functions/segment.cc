#include "tensor/functions/segment.h"

#include "tensor/adjoints/segment.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/view.h"
#include "tensor/ops/segment.h"

namespace weft {

Tensor segment_reduce(const Tensor& x, std::string_view reduce, const Tensor& lengths, int64_t axis) {
  ErrorFrame frame("segment_reduce", x, lengths);
  const int64_t a = normalize_axis(axis, x.rank());
  if (reduce == "sum") return dispatch::apply(op::SegmentSum{a}, x, lengths);
  if (reduce == "prod") return dispatch::apply(op::SegmentReduce{a, op::ScatterReduction::product}, x, lengths);
  if (reduce == "max") return dispatch::apply(op::SegmentReduce{a, op::ScatterReduction::largest}, x, lengths);
  if (reduce == "min") return dispatch::apply(op::SegmentReduce{a, op::ScatterReduction::smallest}, x, lengths);
  if (reduce != "mean") throw Error(text("`", reduce, "` is none of sum, mean, max, min and prod"));
  if (!is_floating(x.dtype()))
    throw DtypeError(text("a mean of ", x.dtype(), " is floating; cast first, e.g. x.to(f32)"));
  if (is_half_precision(x.dtype()))  // the sum may overflow
    return cast(segment_reduce(cast(x, f32), reduce, lengths, a), x.dtype());
  const Tensor sums = dispatch::apply(op::SegmentSum{a}, x, lengths);
  return sums / cast(reshape(lengths, internal::shape_along(a, x.rank(), lengths.numel())), x.dtype());
}

Tensor adjoint::repeat_segments(const Tensor& x, const Tensor& lengths, int64_t axis, int64_t size) {
  ErrorFrame frame("repeat_segments", x, lengths);
  return dispatch::apply(op::RepeatInterleave{axis, size}, x, lengths);
}

}  // namespace weft
