// The table of all rules, generated from op_list.h: a missing gradient<Op> fails to compile here.
#include "autograd/op_node.h"
#include "autograd/rules_all.h"
#include "tensor/ops_all.h"

namespace weft::autograd {
namespace {

template <class Op>
constexpr Rule erased() {
  using R = std::remove_cvref_t<decltype(gradient<Op>)>;
  static_assert(!std::is_same_v<R, MissingRule>, "an op has no rule: add gradient<op::...> to autograd/rules");
  return {R::differentiable, &R::reads, [](const RuleArguments& a) { return gradient<Op>.run(a); }};
}

constexpr Rule kRules[] = {
#define WEFT_RULE(Op) erased<op::Op>(),
    WEFT_OP_LIST(WEFT_RULE)
#undef WEFT_RULE
};

}  // namespace

const Rule& rule_of(OpCode code) { return kRules[static_cast<size_t>(code)]; }

}  // namespace weft::autograd
