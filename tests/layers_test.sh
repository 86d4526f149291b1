#!/usr/bin/env bash
# What each folder may include, as DESIGN.md draws it, and what weft.h and distributed/distributed.h may bring into a
# user's program. Bazel's deps say the same of weft's own headers; those of the system's libraries are in reach of every
# file, so that only their text can tell. It also looks for layers and files of cases that are in no list.
set -euo pipefail
failures=0

fail() {
  echo "layers_test: $*" >&2
  failures=$((failures + 1))
}

# `allow FOLDER PATTERN`: each header that the folder's sources include in quotes begins with one of PATTERN's folders.
# (Paths relative to the source would be in reach as well.)
allow() {
  local pattern=$2 found
  [[ -n $(find -L "$1" -name '*.h' -print -quit 2>/dev/null) ]] || fail "there are no headers in $1"
  found=$(find -L "$1" \( -name '*.h' -o -name '*.cc' -o -name '*.inc' \) -exec \
    grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + |
    grep -vE "include[[:space:]]*\"($pattern)" || true)
  [[ -z $found ]] || fail "$1 may include only $pattern:"$'\n'"$found"
}

# `only HEADERS FILES`: these headers are included by no file whose path does not match FILES.
only() {
  local found
  found=$(find -L tensor autograd nn optim data metrics io distributed examples bench weft.h \
    \( -name '*.h' -o -name '*.cc' -o -name '*.inc' \) -exec \
    grep -HnE "^ *# *include [<\"]($1)" {} + 2>/dev/null | grep -vE "^($2):" || true)
  [[ -z $found ]] || fail "only $2 may include $1:"$'\n'"$found"
}

descriptors='tensor/(core|memory|runtime|ops)/|tensor/dispatch/(any_op|attribute_text|op_info|op_list|policy)\.h'
allow tensor 'tensor/'
allow tensor/core 'tensor/core/'
allow tensor/memory 'tensor/(core|memory|runtime)/'
allow tensor/runtime 'tensor/(core|memory|runtime)/'
allow tensor/ops "$descriptors"
allow tensor/kernels "$descriptors|tensor/kernels/"
# The folders of kernels/cpu, each with those it may include.
cpu='tensor/kernels/cpu' folders=
while read -r folder below; do
  folders+="$folder"$'\n'
  allow $cpu/$folder "$descriptors|$cpu/($folder${below:+|${below// /|}})/"
done <<'FOLDERS'
base
loops base
reduce base loops
pointwise base loops
gemm base
index base loops reduce pointwise
linalg base loops reduce gemm
rowwise base loops reduce pointwise gemm index
window base loops reduce pointwise gemm rowwise
FOLDERS
difference=$(diff <(sort <<<"${folders%$'\n'}") \
  <(find -L $cpu -mindepth 2 -name '*.h' -printf '%P\n' | cut -d/ -f1 | sort -u) || true)
[[ -z $difference ]] || fail "the folders above (<) and those of $cpu (>) differ: $difference"
allow tensor/dispatch "$descriptors|tensor/dispatch/|tensor/tensor\.h"
allow tensor/functions 'tensor/(core|memory|runtime|ops|dispatch|functions|adjoints)/|tensor/tensor\.h'
below_batching='tensor/(core|memory|runtime|ops|dispatch|functions|adjoints)/'
allow tensor/batching "$below_batching|tensor/batching/|tensor/(tensor|state_dict|ops_all|batching_rules_all)\.h"
allow tensor/adjoints 'tensor/(core|ops|functions|adjoints)/|tensor/tensor\.h'
allow autograd 'tensor/|autograd/'
allow nn 'tensor/|autograd/|nn/'
allow optim 'tensor/|autograd/|optim/'
allow data 'tensor/|io/|data/'
allow metrics 'tensor/|metrics/'
allow io 'tensor/|nn/|optim/|io/'
allow distributed 'tensor/|autograd/|nn/|optim/|data/|io/|distributed/'
allow examples 'weft\.h|distributed/distributed\.h|examples/'

only 'dnnl|oneapi/' 'tensor/kernels/cpu/.*|bench/.*'
only 'Eigen/|unsupported/Eigen/' 'tensor/kernels/cpu/.*'
only 'spdlog/|fmt/' 'tensor/[^:]*\.cc'
only 'nlohmann/' 'io/.*|bench/compare/.*'
only 'png\.h|zlib\.h' 'io/.*'
only 'nn/' 'weft\.h|nn/.*|io/checkpoint[^:]*|distributed/.*|bench/.*'
only 'CLI/' 'examples/.*|bench/.*'
only 'optim/' 'weft\.h|optim/.*|io/checkpoint[^:]*|distributed/.*|bench/.*'

# All that a public header includes, and what it includes in turn: no heavy header, no rule of a gradient, and nothing
# of dispatch: no descriptor, no adjoint function, no kernel, no node of history.
heavy='[<"]((iostream|filesystem|thread|random|algorithm|regex)>|autograd/rule\.h)'
inner='"(tensor/(ops/[a-z_]*\.h|adjoints/|kernels/)'
inner+='|tensor/dispatch/(apply|any_op|backend|in_place|op_info|op_call|over|policy)\.h'
inner+='|autograd/(node|op_node|leaf_node|run|function_node)\.h)'
for public in weft.h distributed/distributed.h; do
  declare -A seen=()
  queue=("$public")
  while ((${#queue[@]})); do
    header=${queue[0]}
    queue=("${queue[@]:1}")
    [[ -z ${seen[$header]:-} && -e $header ]] || continue
    seen[$header]=1
    found=$(grep -nE "^ *# *include ($heavy|$inner)" "$header" || true)
    [[ -z $found ]] || fail "$header is part of $public and may not include: $found"
    while read -r next; do queue+=("$next"); done < <(sed -nE 's/^ *# *include "([^"]+)".*/\1/p' "$header")
  done
  echo "layers_test: ${#seen[@]} headers behind $public"
  ((${#seen[@]} > 20)) || fail "$public was not read"
  unset seen
done

# Every layer and loss has a row in print_test.cc. The classes without one are bases.
bases='BatchNorm|BatchNormNd|ChannelDropout|ChannelNorm|InstanceNorm|LossLayer|Parametrized|RecurrentCell|RecurrentLayer'
bases+='|\w+PoolLayer|PoolLayer|ConvLayer|PadLayer|Name'
classes=$(sed -nE \
  -e 's/^(template <.*> *)?class (\w+)( final)? : public .*/\2/p' \
  -e 's/^WEFT_PAD_LAYERS\((\w+),.*/\11d \12d \13d/p' \
  -e '/^WEFT_PAD_LAYERS/d;s/^WEFT_\w+\((\w+), .*/\1/p' nn/layers/*.h nn/losses/*.h | grep -vxE "$bases")
for class in $classes; do
  grep -qE "\b$class\b" tests/nn/print_test.cc || fail "tests/nn/print_test.cc has no row of $class"
done

# Every file of cases is a family of the case table; one that is not would never run.
families=$(sed -n '/define WEFT_CASE_FAMILIES/,/^\/\//p' tests/ops/families.h | grep -oE 'X\(\w+\)' | sed -E 's/X\((.*)\)/\1/' | sort)
files=$(basename -a -s _cases.cc tests/ops/*_cases.cc | sort)
difference=$(diff <(echo "$families") <(echo "$files") | grep '^[<>]' || true)
[[ -z $difference ]] || fail "tests/ops/families.h (<) and tests/ops/*_cases.cc (>) differ: $difference"

fast='-f(fast-math|finite-math-only|unsafe-math|associative-math|reciprocal-math)|-Ofast'
if grep -nE "^[^#]*($fast)" .bazelrc tools/flags.bazelrc; then
  fail "NaN and Inf must come out of a kernel as IEEE 754 says"
fi

((failures == 0)) || exit 1
echo "layers_test: every include where it may be"
