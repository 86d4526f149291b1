// Batching of attention.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/dispatch/batched.h"
#include "tensor/ops/attention.h"

namespace weft::batching {

// The op accepts any leading axes.
namespace detail {
inline constexpr auto attention = [](auto op, const Call& call) {
  const bool same_numbers = op.setting.dropout_p > 0 && !dispatch::take_mark(op.setting.key.offset);
  return same_numbers ? one_by_one(call) : call.run(op, call.whole());
};
}  // namespace detail
WEFT_BATCHING(Attention) = detail::attention;
WEFT_BATCHING(AttentionBackward) = detail::attention;

}  // namespace weft::batching
