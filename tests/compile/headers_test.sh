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
# The generated headers, so that the test needs nothing but the tree.
mkdir -p "$work/tensor" "$work/autograd"
printf '#include "%s"\n' tensor/ops/*.h >"$work/tensor/ops_all.h"
printf '#include "%s"\n' tensor/functions/*.h >"$work/tensor/functions_all.h"
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
#include "tensor/dispatch/op_list.h"
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

# An op that op_list.h does not know: its number, which every use of its OpInfo names, is defined nowhere.
numbers() {
  cat <<EOF
#include "tensor/dispatch/op_list.cc"
namespace weft::op {
struct Unlisted;
}
const weft::OpCode* number = &weft::OpCodeOf<weft::op::$1>::value;
EOF
}
# `defined NAME`: whether the number of the op of that name is defined beside the list.
defined() {
  numbers "$1" >"$work/number.cc"
  "$compiler" -std=c++20 -I "$work" -I . -c "$work/number.cc" -o "$work/number.o" || fail "op_list.cc does not compile"
  local symbols
  symbols=$(nm -C "$work/number.o")
  [[ $symbols != *" U weft::OpCodeOf<weft::op::$1>::value"* ]]
}
defined Detach || fail "an op of op_list.h has no number"
if defined Unlisted; then fail "an op that is not in op_list.h has a number"; fi

# Names that users must not see through weft.h: each is declared here as something else, which compiles only where it is free.
snippet hidden <<'EOF' || fail "weft.h shows names that are not for users: $(cat "$work/hidden.log")"
#include "weft.h"
namespace weft {
int op, adjoint, kernels, dispatch;
namespace AnyOp {}
namespace Operand {}
namespace Policy {}
namespace Spec {}
namespace Backend {}
namespace autograd {
namespace Node {}
namespace Edge {}
namespace Saved {}
namespace OpNode {}
namespace Leaf {}
namespace Rule {}
}
namespace metrics {
int pairs_of, scores_of, check_classes, check_no_nan;
namespace Pairs {}
}
namespace optim {
int of_group, check_groups, check_milestones, by_group, curve_for;
}
}
// Nor members of a tensor that only weft's own layers may use.
template <class T>
concept ShowsItsInside = requires(T x) { x.raw(); } || requires(T x) { x.body(); } || requires(T x) { x.storage_ptr(); };
static_assert(!ShowsItsInside<weft::Tensor>);
EOF

# A scope that is not named ends at once: the compiler says so.
snippet unnamed <<'EOF' || fail "a scope without a name does not compile: $(cat "$work/unnamed.log")"
#include "weft.h"
void f() {
  weft::NoGrad();
  weft::EnableGrad();
  weft::Autocast::off();
}
EOF
[[ $(grep -c 'warning: ignoring' "$work/unnamed.log") == 3 ]] ||
  fail "a scope without a name is no warning: $(cat "$work/unnamed.log")"

# `using namespace weft;` leaves a program its own names for common things.
snippet using <<'EOF' || fail "using namespace weft takes common names: $(cat "$work/using.log")"
#include "weft.h"
struct Pair {};
struct Single {};
struct Triple {};
struct Frame {};
struct Event {};
struct Recomputation {};
struct Node {};
struct Edge {};
struct Leaf {};
struct Rule {};
struct Operand {};
struct Policy {};
struct Backend {};
struct Value {};
struct Batch {};
struct Config {};
struct Options {};
struct Model {};
struct Point {};
struct Matrix {};
struct Vector {};
struct Image {};
struct Timer {};
struct Same {};
int same, only, fits, modes, contains, category, destroy, triple;

using namespace weft;
Pair a;
Single b;
Triple c;
Frame d;
Event e;
Recomputation f;
Node g;
Edge h;
Leaf i;
Rule j;
Operand k;
Policy l;
Backend m;
Value n;
Batch o;
Config p;
Options q;
Model r;
Point s;
Matrix t;
Vector u;
Image v;
Timer w;
Same x;
int y = same + only + fits + modes + contains + category + destroy + triple;
EOF

# A tensor is no condition, and the compiler shows what is.
if snippet condition <<<'#include "weft.h"
int main() { if (weft::ones({1}).sum() > 0) return 1; }'; then fail "a tensor is taken for a condition"; fi
grep -q 'item<bool>()' "$work/condition.log" || fail "a tensor as a condition: the compiler does not name item<bool>()"

# All that weft.h brings, as the compiler sees it.
echo '#include "weft.h"' >"$work/user.cc"
"$compiler" -std=c++20 -M -I "$work" -I . "$work/user.cc" | tr -d '\\' | tr ' ' '\n' >"$work/headers"
heavy='/(Eigen|unsupported/Eigen|oneapi|spdlog|fmt|nlohmann)/|/dnnl|/(iostream|ostream|iterator|memory|atomic|filesystem|thread|random|algorithm|regex)$|autograd/rule\.h$'
if grep -E "$heavy" "$work/headers"; then fail "weft.h brings the headers above"; fi
grep -q 'tensor/tensor.h' "$work/headers" || fail "weft.h was not read: $(cat "$work/headers")"

echo "headers_test: $compiler sees $(grep -c . "$work/headers") headers behind weft.h, none of them heavy; missing rules do not compile"
