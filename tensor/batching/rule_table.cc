#include "tensor/batching_rules_all.h"
#include "tensor/dispatch/op_list.h"
#include "tensor/ops_all.h"

namespace weft::batching {
namespace {

template <class Op> std::vector<Tensor> erased(const Call& call) {
  return rule_detail::run(batching<Op>, *static_cast<const Op*>(call.op), call);
}

template <class Op> constexpr Rule row() {
  if constexpr (ViewOp<Op>)
    return &one_by_one;  // never asked: views of samples are arithmetic
  else if constexpr (requires { rule_detail::shared(batching<Op>); })
    return rule_detail::shared(batching<Op>);
  else
    return &erased<Op>;
}

constexpr Rule kRules[] = {
#define WEFT_RULE(Op) row<op::Op>(),
    WEFT_OP_LIST(WEFT_RULE)
#undef WEFT_RULE
};

}  // namespace

Rule rule_of(OpCode code) { return kRules[static_cast<size_t>(code)]; }

}  // namespace weft::batching
