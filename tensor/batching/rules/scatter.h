// Batching of scatter.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/functions/view.h"
#include "tensor/ops/scatter.h"

namespace weft::batching {

namespace detail {
/// For ops along an axis; 0-d samples get an axis of size 1.
inline constexpr auto scatter = [](auto op, const Call& call) -> std::vector<Tensor> {
  ++op.axis;
  std::vector<Tensor> inputs = call.whole();
  const bool scalars = inputs[0].rank() == 1;
  for (Tensor& x : inputs)
    if (scalars) x = reshape(x, {call.size(), 1});
  std::vector<Tensor> out = call.run(op, inputs);
  if (scalars) out[0] = squeeze(out[0], 1);
  return out;
};
}  // namespace detail
WEFT_BATCHING(Scatter) = detail::scatter;
WEFT_BATCHING(ScatterSum) = detail::scatter;
WEFT_BATCHING(ScatterReduce) = detail::scatter;

}  // namespace weft::batching
