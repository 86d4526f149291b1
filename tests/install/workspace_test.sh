#!/usr/bin/env bash
# The README's program in a Bazel workspace of its own that takes weft as a local_repository: `workspace_test.sh README BAZELW MODE`.
# MODE `analyse` loads and checks everything the program needs and compiles nothing: seconds. MODE `portable` compiles weft and the
# program for any CPU with AVX2, runs both, and compares what the kernels for AVX2 and AVX-512 compute: minutes.
set -euo pipefail
readme=$(readlink -f "$1") bazelw=$(readlink -f "$2") mode=$3
weft=$(dirname "$bazelw")

if [[ ! -x ${BAZEL:-/usr/bin/bazel} ]]; then
  echo "install: skipped, there is no Bazel"
  exit 0
fi

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/workspace.XXXXXX")
cd "$work"
cat >WORKSPACE <<EOF
workspace(name = "user")

local_repository(
    name = "weft",
    path = "$weft",
)

load("@weft//third_party:debian.bzl", "debian_repositories")

debian_repositories()
EOF
echo "import $weft/tools/flags.bazelrc" >.bazelrc
cat >BUILD <<'EOF'
cc_binary(
    name = "program",
    srcs = ["program.cc"],
    deps = ["@weft//:weft"],
)
EOF
awk '/^```cpp/ { inside = 1; next } /^```/ && inside { exit } inside' "$readme" >program.cc

# A server of its own, which ends with the test.
bazel() { "$bazelw" --output_user_root="$work/outputs" --max_idle_secs=5 "$@" </dev/null; }
trap 'bazel shutdown >/dev/null 2>&1; chmod -R u+w "$work" && rm -rf "$work"' EXIT

if [[ $mode == analyse ]]; then
  bazel build --nobuild //:program
  echo "install: another workspace finds all that weft needs"
  exit 0
fi
