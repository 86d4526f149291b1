#!/usr/bin/env bash
# What only the compiler can say: an op without a rule does not compile, an op without a line in op_list.h cannot be applied, a tensor is
# no condition, and weft.h brings no heavy header, not even through another one.
set -euo pipefail

compiler=${CXX:-}
for candidate in g++ clang++ c++; do
  [[ -n $compiler ]] || compiler=$(command -v "$candidate" || true)
done
if [[ -z $compiler ]] || ! command -v "$compiler" >/dev/null; then
  echo "headers_test: skipped, there is no C++ compiler to ask"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The two generated headers, so that the test needs nothing but the tree.
mkdir -p "$work/tensor" "$work/autograd"
printf '#include "%s"\n' tensor/ops/*.h >"$work/tensor/ops_all.h"
printf '#include "%s"\n' autograd/rules/*.h >"$work/autograd/rules_all.h"
flags=(-std=c++20 -fsyntax-only -I "$work" -I .)

fail() {
  echo "headers_test: $*" >&2
  exit 1
}

# `snippet NAME`: compiles the standard input; what the compiler says is in $work/NAME.log.
snippet() {
  cat >"$work/$1.cc"
  "$compiler" "${flags[@]}" "$work/$1.cc" >"$work/$1.log" 2>&1
}

# The table of rules for a list of ops that ends with $1.
table() {
  cat <<EOF
#include "tensor/op_list.h"
#undef WEFT_OP_LIST
#define WEFT_OP_LIST(X) X(Add) X($1)
namespace weft::op {
struct Forgotten {};
}
#include "autograd/rule_table.cc"
EOF
}
table Mul | snippet with_rule || fail "the table does not compile as it is: $(cat "$work/with_rule.log")"
if table Forgotten | snippet without_rule; then fail "an op without a rule compiles"; fi
grep -q 'an op has no rule: add gradient<op::...> to autograd/rules' "$work/without_rule.log" ||
  fail "an op without a rule fails with another text: $(cat "$work/without_rule.log")"

# An op that op_list.h does not know.
unlisted() {
  cat <<EOF
#include "tensor/ops/copy.h"
namespace weft::op {
struct Unlisted {
  static constexpr std::string_view name = "unlisted";
  void attributes(auto) const {}
  bool operator==(const Unlisted&) const = default;
  std::optional<View> view(const View& in) const { return in; }
};
}
weft::Tensor test(const weft::Tensor& x) { return weft::apply(weft::op::$1{}, x); }
EOF
}
unlisted Detach | snippet listed || fail "applying an op does not compile: $(cat "$work/listed.log")"
if unlisted Unlisted | snippet unlisted; then fail "an op that is not in op_list.h can be applied"; fi

# A tensor as a condition: the compiler shows the line that says what to write.
condition() {
  printf '#include "weft.h"\nint test(const weft::Tensor& x) { return %s ? 1 : 0; }\n' "$1"
}
condition '(x.sum() > 0).item<bool>()' | snippet item || fail "item<bool>() does not compile: $(cat "$work/item.log")"
if condition 'x.sum() > 0' | snippet condition; then fail "a tensor is a condition"; fi
grep -q 'write item<bool>()' "$work/condition.log" || fail "a condition does not name item<bool>(): $(cat "$work/condition.log")"

# All that weft.h brings, as the compiler sees it.
echo '#include "weft.h"' >"$work/user.cc"
"$compiler" -std=c++20 -M -I "$work" -I . "$work/user.cc" | tr -d '\\' | tr ' ' '\n' >"$work/headers"
heavy='/(Eigen|unsupported/Eigen|oneapi|spdlog|fmt|nlohmann)/|/dnnl|/(iostream|filesystem|thread|random|algorithm|regex)$|autograd/rule\.h$'
if grep -E "$heavy" "$work/headers"; then fail "weft.h brings the headers above"; fi
grep -q 'tensor/tensor.h' "$work/headers" || fail "weft.h was not read: $(cat "$work/headers")"

echo "headers_test: $compiler sees $(grep -c . "$work/headers") headers behind weft.h, none of them heavy; missing rules do not compile"
