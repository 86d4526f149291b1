// Shared by rules: merging the batch axis into the channels, for ops on (n, channels, ...) whose weights or statistics
// differ between samples.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/functions/view.h"

namespace weft::batching::detail {

/// Convert (batch, n, channels, ...) to (n, batch * channels, ...), and back. The batch has `size` samples, at least 1.
inline Tensor batch_to_channels(const Tensor& x) { return flatten(movedim(x, 0, 1), 1, 2); }
inline Tensor channels_to_batch(const Tensor& x, int64_t size) {
  return movedim(unflatten(x, 1, {size, x.size(1) / size}), 1, 0);
}
/// Input `i` (batch, n, ...) as (batch * n, ...); undefined where absent.
inline Tensor fold_optional(const Call& call, size_t i) {
  return call.inputs[i].x.defined() ? fold(call.whole(i)) : Tensor();
}
/// The gradients `out` of x, weight and bias, whose channels are those of all samples, as batches; placeholders for
/// those whose bit is not in `wanted`.
inline std::vector<Tensor> batched_gradients(const Call& call, int wanted, std::vector<Tensor> out) {
  out[0] = wanted & 1 ? channels_to_batch(out[0], call.size()) : placeholder(call, out[0]);
  for (size_t i = 1; i < 3; ++i)
    out[i] = wanted >> i & 1 ? unfold_batch(out[i], call.size()) : placeholder(call, out[i]);
  return out;
}

}  // namespace weft::batching::detail
