#!/usr/bin/env bash
# The libraries below dispatch need nothing of those above them: descriptors call no kernel, types and what is known of
# any op know of neither. A linker tells only now and then, as an object that nobody asks for is not looked at.
set -euo pipefail
types=$1 op_info=$2 ops=$3 kernels=$4
failures=0

# Functions, with the qualifiers of member functions, and what the compiler makes of types and of variables of threads.
symbol='_Z(T[ITVW])?N?K?[RO]?4weft.*'

# `below NAME LIBRARIES...`: what the first library takes of weft is defined in one of them.
below() {
  local name=$1 missing
  shift
  missing=$(comm -23 <(nm -A --undefined-only "$1" 2>/dev/null | grep -oE "$symbol" | sort -u) \
    <(nm --defined-only "$@" 2>/dev/null | grep -oE "$symbol" | sort -u))
  [[ -z $missing ]] && return
  echo "link_test: $name takes from above it:"$'\n'"$(c++filt <<<"$missing")" >&2
  failures=$((failures + 1))
}

(($(nm --undefined-only "$ops" | grep -cE "$symbol") > 100)) ||
  { echo "link_test: no symbols in $ops" >&2 && exit 1; }
below //tensor:types "$types"
below //tensor:op_info "$op_info" "$types"
below //tensor:ops "$ops" "$op_info" "$types"
below //tensor/kernels/cpu "$kernels" "$ops" "$op_info" "$types"
((failures == 0)) || exit 1
echo "link_test: every symbol comes from below"
