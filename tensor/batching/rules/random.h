// Batching of random ops. If the key is marked (dispatch/batched.h), each sample gets different numbers, else the same.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/dispatch/batched.h"
#include "tensor/ops/dropout.h"
#include "tensor/ops/random.h"
#include "tensor/ops/stochastic_cast.h"

namespace weft::batching {

namespace detail {
inline constexpr auto draws = [](auto op, const Call& call) -> std::vector<Tensor> {
  return dispatch::take_mark(op.offset) ? call.run(op, call.whole()) : one_by_one(call);
};
}  // namespace detail
WEFT_BATCHING(Dropout) = detail::draws;
WEFT_BATCHING(Poisson) = detail::draws;
WEFT_BATCHING(StochasticCast) = detail::draws;
// The rows of all samples are drawn at once.
WEFT_BATCHING(Multinomial) = [](op::Multinomial op, const Call& call) -> std::vector<Tensor> {
  if (!dispatch::take_mark(op.offset)) return one_by_one(call);
  const Tensor weights = call.whole(0);
  if (weights.rank() == 2) return call.run(op, {weights});
  if (call.size() == 0) return one_by_one(call);
  return unfold_all(call.run(op, {fold(weights)}), call.size());
};
// The op has no inputs, so this rule is called only if samples get different numbers.
WEFT_BATCHING(RandomFill) = [](op::RandomFill op, const Call& call) -> std::vector<Tensor> {
  dispatch::take_mark(op.offset);
  op.shape.insert(0, call.size());
  op.device = call.level.below;
  return call.run(op, {});
};

}  // namespace weft::batching
