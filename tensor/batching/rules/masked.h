// Batching of ops with masks.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/masked.h"

namespace weft::batching {

// Its policy broadcasts, but the op is not element-wise.
WEFT_BATCHING(MaskedSelect) = [](const op::MaskedSelect&, const Call& call) { return one_by_one(call); };

WEFT_BATCHING(Triangle) = same_op;
// Each element is taken from the source of its own sample.
WEFT_BATCHING(MaskedScatter) = [](const op::MaskedScatter&, const Call& call) -> std::vector<Tensor> {
  const Tensor x = call.whole(0), mask = call.whole(1), source = call.whole(2);
  if (source.numel() == 0 || mask.numel() == 0) return one_by_one(call);
  const Tensor place = cumsum(reshape(mask, {call.size(), -1}), 1);
  if (max(dispatch::all_samples(place)).item<int64_t>() > source.size(1))
    return one_by_one(call);  // the error is the op's
  const Tensor taken = gather(source, 1, clip(place - 1, 0, std::nullopt));
  return {where(mask, reshape(taken, x.shape()), x)};
};

}  // namespace weft::batching
