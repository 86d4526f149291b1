#!/usr/bin/env bash
# Mistakes on the command lines of the examples: one line that names the option, and exit status 2, before anything is
# trained. `examples_test.sh MLP GPT`.
set -uo pipefail
mlp=$1 gpt=$2
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/examples.XXXXXX")
touch "$work/file"
unset BUILD_WORKING_DIRECTORY  # paths as they are given
failed=0

# `refuses STATUS TEXT PROGRAM ARGUMENTS...`
refuses() {
  local expected=$1 text=$2 status=0
  shift 2
  timeout 60 "$@" >"$work/out" 2>"$work/err" || status=$?
  if ((status != expected)) || [[ $(wc -l <"$work/err") != 1 ]] || ! grep -qF -- "$text" "$work/err" ||
    (($(wc -c <"$work/err") > 300)); then
    echo "examples: ${*:2} ended with $status and said: $(cat "$work/err")" >&2
    failed=1
  fi
}

refuses 2 "--seed: -1 is not a whole number" "$mlp" --seed -1
refuses 2 "--seed: 18446744073709551616 is not a whole number" "$mlp" --seed 18446744073709551616
refuses 2 "--lr: 0 is not a number above 0" "$mlp" --lr 0
refuses 2 "--out: there is no folder $work/none" "$mlp" --out "$work/none"
refuses 2 "--out: there is no folder $work/file" "$mlp" --out "$work/file"
refuses 2 "--save: there is no folder $work/none" "$mlp" --save "$work/none/checkpoint"
refuses 2 "--save: $work is not a file" "$mlp" --save "$work"
refuses 1 "--batch-size 10000" "$mlp" --batch-size 10000
refuses 2 "--temperature: nan is not a number above 0" "$gpt" --temperature nan
refuses 1 "$work: is a folder" "$gpt" --data "$work"
refuses 1 "/proc/self/mem: cannot be read" "$gpt" --data /proc/self/mem
refuses 1 "$work/none: cannot open" "$mlp" --resume "$work/none"
refuses 1 "$work/file: " "$mlp" --resume "$work/file"
((failed == 0)) && echo "examples: mistakes are refused"
exit "$failed"
