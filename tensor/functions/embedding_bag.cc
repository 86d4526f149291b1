#include "tensor/functions/embedding_bag.h"

#include "tensor/adjoints/embedding_bag.h"
#include "tensor/adjoints/index.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/embedding_bag.h"

namespace weft {
namespace {

/// y in the dtype of the Autocast scope, if there is one, as in embedding().
Tensor in_scope(const Tensor& y) {
  return internal::modes().autocast != f32 && y.dtype() == f32 ? cast(y, internal::modes().autocast) : y;
}

}  // namespace

Tensor embedding_bag_sum(const Tensor& indices, const Tensor& weight, const Tensor& offsets, const Tensor& factors,
                         int64_t padding_idx) {
  ErrorFrame frame("embedding_bag_sum", indices, weight);
  return in_scope(dispatch::apply(op::EmbeddingBag{padding_idx}, indices, weight, offsets, factors));
}

Tensor embedding_bag_max(const Tensor& indices, const Tensor& weight, const Tensor& offsets, int64_t padding_idx) {
  ErrorFrame frame("embedding_bag_max", indices, weight);
  const Tensor rows = dispatch::apply(op::EmbeddingBagArgmax{padding_idx}, indices, weight, offsets);
  if (weight.size(0) == 0) return in_scope(zeros(rows.shape(), weight.dtype(), weight.device()));
  return in_scope(masked_fill(gather(weight, 0, clip(rows, 0, std::nullopt)), rows < 0, 0));
}

Tensor adjoint::bag_of_each(const Tensor& offsets, int64_t count) {
  ErrorFrame frame("bag_of_each", offsets);
  // The number of bags that begin at or before each index. Bags that begin after the last index are empty.
  const Tensor steps = index_add(ones({offsets.numel()}, i64, offsets.device()), 0, offsets, {count + 1});
  return slice(cumsum(steps, 0), 0, 0, count) - 1;
}

}  // namespace weft
