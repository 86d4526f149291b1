// Prints docs/ops.md: every op with its attributes, dtypes, what autocast does with it, its gradient or why it has
// none, and its cost.
//
//   ./bazelw run //tools/docs:ops_table > docs/ops.md
#include <cstdio>
#include <string>
#include <type_traits>

#include "autograd/rule.h"
#include "tensor/dispatch/op_info.h"
#include "tensor/dispatch/op_list.h"
#include "tensor/ops_all.h"
#include "tools/docs/composed.h"

namespace weft {
namespace {

/// An op to read the names of its attributes from. One that cannot be made without arguments needs a form here.
template <class Op> Op example(std::type_identity<Op>) { return Op{}; }
op::Full example(std::type_identity<op::Full>) { return {View::contiguous({}), 0, f32}; }
op::Arange example(std::type_identity<op::Arange>) { return {0, 1, 0, f32}; }
op::Fill example(std::type_identity<op::Fill>) { return {0}; }
op::MaskedFill example(std::type_identity<op::MaskedFill>) { return {0}; }
op::ViewAdjoint example(std::type_identity<op::ViewAdjoint>) { return {AnyOp(op::SqueezeAll{}), {}}; }

/// What an attribute that is a struct holds; the lists are as long as the structs, or this does not compile.
template <class T> std::string fields_of(const T&) { return ""; }
std::string fields_of(const ConvOptions& o) {
  [[maybe_unused]] const auto& [axes, stride, padding, dilation, groups, algorithm] = o;
  return " (axes, stride, padding, dilation, groups, algorithm)";
}
std::string fields_of(const Pool2dOptions& o) {
  [[maybe_unused]] const auto& [kernel_size, stride, padding, dilation, ceil_mode, count_include_pad, divisor] = o;
  return " (kernel_size, stride, padding, dilation, ceil_mode, count_include_pad, divisor_override)";
}
std::string fields_of(const MaxWindows& o) {
  [[maybe_unused]] const auto& [options, shares] = o;
  return " (options, shares)";
}
std::string fields_of(const op::AttentionSetting& o) {
  [[maybe_unused]] const auto& [causal, scale, dropout_p, key] = o;
  return " (causal, scale, dropout_p, key)";
}
std::string fields_of(const AxisMap& o) {
  [[maybe_unused]] const auto& [kind, in, out, scale, align_corners, transposed] = o;
  return " (kind, in, out, scale, align_corners, transposed)";
}

/// Whether an op of a number and a tensor takes the number first, as value - x.
template <class Op> constexpr bool takes_number_first = false;
#define WEFT_SCALAR_WITH(Op, function, policy) template <> constexpr bool takes_number_first<op::Op> = true;
#include "tensor/ops/binary.inc"

/// The names of an op's attributes, with commas.
template <class Op> std::string attributes_of() {
  std::string names;
  example(std::type_identity<Op>()).attributes([&](std::string_view name, const auto& value) {
    names += (names.empty() ? "" : ", ") + std::string(name) + fields_of(value);
  });
  if (takes_number_first<Op>) names += " (first)";
  return names.empty() ? "-" : names;
}

std::string dtypes_of(const Policy& policy) {
  std::string text = policy.accepts == kAllDTypes  ? "all"
                     : policy.accepts == kNumbers  ? "all but bool"
                     : policy.accepts == kFloating ? "floating"
                     : policy.accepts == kIntegers ? "integers"
                                                   : "";
  if (text.empty())
    for (int i = 0; i < kDTypeCount; ++i)
      if (policy.accepts.contains(static_cast<DType>(i)))
        text += (text.empty() ? "" : ", ") + std::string(name_of(static_cast<DType>(i)));
  if (policy.widens_integers) text += "; integers become f32";
  return text;
}

const char* autocast_of(const Policy& policy) {
  switch (policy.autocast) {
    case Autocasting::lower:
      return policy.rounded_inside != 0 ? "the scope's dtype; parameters in f32 are rounded by the kernel"
                                        : "the scope's dtype";
    case Autocasting::full: return "f32";
    case Autocasting::follow: break;
  }
  return "its inputs' dtype";
}

template <class Op> std::string inputs_text() {
  if constexpr (ViewOp<Op>)
    return "1, a view of it";
  else if constexpr (dispatch::inputs_of<Op> == dispatch::kList)
    return "a list";
  else
    return std::to_string(dispatch::inputs_of<Op>);
}

/// What it costs, as its descriptor says; most ops are one pass over memory, and say nothing.
template <class Op> constexpr std::string_view cost_of() {
  if constexpr (requires { Op::cost; })
    return Op::cost;
  else
    return ViewOp<Op> ? "no data is touched" : "one pass";
}

template <class Op> void print_row() {
  const OpInfo& info = op_info<Op>;
  const char* why_not = autograd::rule_of(*info.code).why_not;
  std::printf("| `%s` | %s | %s | %d | %s | %s | %s | %s |\n", std::string(info.name).c_str(),
              attributes_of<Op>().c_str(), inputs_text<Op>().c_str(), info.outputs, dtypes_of(info.policy).c_str(),
              autocast_of(info.policy), why_not ? ("no: " + std::string(why_not)).c_str() : "yes",
              std::string(cost_of<Op>()).c_str());
}

}  // namespace
}  // namespace weft

int main() {
  std::printf(
      "# The ops of weft\n\n"
      "Made by `./bazelw run //tools/docs:ops_table > docs/ops.md` from the ops' descriptors; "
      "a test compares the two. Public\n"
      "functions are in `tensor/functions/*.h`; some of those that are composed of these ops are in the second table. "
      "\"Autocast\": what\n"
      "the op computes in inside of an `Autocast` scope. Gradients are of any order "
      "unless the function's docstring says more. \"Cost\"\n"
      "counts for one member of a batch; one pass reads inputs and writes outputs once.\n\n"
      "| op | attributes | inputs | outputs | dtypes | autocast | gradient | cost |\n"
      "|---|---|---|---|---|---|---|---|\n");
#define WEFT_ROW(Op) weft::print_row<weft::op::Op>();
  WEFT_OP_LIST(WEFT_ROW)
#undef WEFT_ROW
  weft::print_composed();
  return 0;
}
