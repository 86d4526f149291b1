// The table of all rules, generated from op_list.h: a missing gradient<Op> fails to compile here.
#include "autograd/op_node.h"
#include "autograd/rules_all.h"
#include "tensor/dispatch/op_list.h"
#include "tensor/ops_all.h"

namespace weft::autograd {
namespace {

/// The first output of the op on `inputs` once more.
template <class Op, size_t... I> Tensor run_again(const Op& op, const Tensor* inputs, std::index_sequence<I...>) {
  if constexpr (dispatch::outputs_of<Op> == 1)
    return dispatch::apply(op, inputs[I]...);
  else
    return dispatch::apply(op, inputs[I]...)[0];
}

template <class Op> constexpr auto recompute_function() -> Tensor (*)(const void*, const Tensor*) {
  if constexpr (recomputed_inputs<Op> == 0)
    return nullptr;
  else
    return [](const void* op, const Tensor* inputs) {
      return run_again(*static_cast<const Op*>(op), inputs, std::make_index_sequence<recomputed_inputs<Op>>());
    };
}

template <class R> constexpr const char* why_not(const R& rule) {
  if constexpr (R::differentiable)
    return nullptr;
  else
    return rule.why;
}

/// Whether all bits of `mask` are below `count`, a number of inputs or outputs, or kList.
constexpr bool are_below(uint32_t mask, int count) { return count == dispatch::kList || mask >> count == 0; }

template <class R, class Op> constexpr bool fits() {
  if constexpr (requires { R::template fits<Op>(); })
    return R::template fits<Op>();
  else
    return true;
}

template <class Op> constexpr Rule erased() {
  using R = std::remove_cvref_t<decltype(gradient<Op>)>;
  static_assert(!std::is_same_v<R, MissingRule>, "an op has no rule: add gradient<op::...> to autograd/rules");
  static_assert(fits<R, Op>(),
                "a rule takes another op's descriptor, or per_input() has not a function for each input");
  constexpr Reads kReads = R::reads(~uint64_t{0});
  static_assert(are_below(kReads.inputs | kReads.into, dispatch::inputs_of<Op>),
                "a rule reads an input that the op does not have");
  static_assert(are_below(kReads.outputs, dispatch::outputs_of<Op>),
                "a rule reads an output that the op does not have");
  static_assert(recomputed_inputs<Op> <= kMostRecomputedInputs);
  return {R::differentiable,
          why_not(gradient<Op>),
          &R::reads,
          kReads.into != 0,
          [](const RuleArguments& a) { return gradient<Op>.run(a); },
          recomputed_inputs<Op>,
          is_expensive_to_recompute<Op>,
          recompute_function<Op>()};
}

constexpr Rule kRules[] = {
#define WEFT_RULE(Op) erased<op::Op>(),
    WEFT_OP_LIST(WEFT_RULE)
#undef WEFT_RULE
};

}  // namespace

const Rule& rule_of(OpCode code) { return kRules[static_cast<size_t>(code)]; }

}  // namespace weft::autograd
