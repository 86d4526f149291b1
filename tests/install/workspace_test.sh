#!/usr/bin/env bash
# The README's program in a Bazel workspace of its own that takes weft as the README says: `workspace_test.sh README BAZELW MODE`.
# MODE `analyze` loads and checks everything the program needs and compiles nothing: seconds. MODE `portable` compiles weft and the
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
{
  echo 'workspace(name = "user")'
  awk '/^```python/ { inside = 1; next } /^```/ { inside = 0 } inside' "$readme" | sed "s|/path/to/weft|$weft|"
} >WORKSPACE
# (As in the .bazelrc of weft.)
printf "%s\n" "import $weft/tools/flags.bazelrc" "build --spawn_strategy=processwrapper-sandbox --strategy=CppCompile=local --nosandbox_debug --noshow_progress" >.bazelrc
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

if [[ $mode == analyze ]]; then
  bazel build --nobuild //:program
  echo "install: another workspace finds all that weft needs"
  exit 0
fi

bazel build --config=portable //:program @weft//tests/install:isa_probe
bin=$(bazel info --config=portable bazel-bin)
(cd "$work" && "$bin/program" && [[ -s mlp.safetensors ]])

# Nothing but the kernels for AVX-512 holds their instructions.
for archive in $(find "$bin/external/weft" -name 'lib*.a' ! -name '*_avx512.a' ! -name '*_two_builds.a'); do
  if objdump -d "$archive" | grep -m 1 -E '%zmm|\{%k[0-7]\}'; then
    echo "install: $archive is for any CPU with AVX2 and holds the AVX-512 instruction above" >&2
    exit 1
  fi
done

probe=$bin/external/weft/tests/install/isa_probe
WEFT_ISA=avx2 "$probe" >avx2
"$probe" >chosen
expected=avx2
! grep -q avx512vl /proc/cpuinfo || expected=avx512
[[ $(head -n 1 avx2) == avx2 && $(head -n 1 chosen) == "$expected" ]] ||
  { echo "install: WEFT_ISA=avx2 ran $(head -n 1 avx2), the CPU's own choice was $(head -n 1 chosen)" >&2 && exit 1; }
# Rounding may differ: sums have as many terms at a time as a register has lanes.
agree() {
  paste "$1" "$2" | awk '
    function differs(a, b) { d = a - b; m = a < 0 ? -a : a; return d * d > (1e-4 * m + 1e-5) ^ 2 }
    NR > 1 { lines++; if ($1 != $4 || differs($2, $5) || differs($3, $6)) { print "differs: " $0; bad = 1 } }
    END { exit bad || lines < 16 }' || { echo "install: $1 and $2 disagree" >&2 && exit 1; }
}
agree avx2 chosen

# The same on a CPU that has no more than AVX2, where an emulator is installed.
if command -v qemu-x86_64 >/dev/null; then
  qemu-x86_64 -cpu Haswell-noTSX "$probe" >haswell 2>qemu.log || { cat qemu.log >&2 && exit 1; }
  agree avx2 haswell
else
  echo "install: there is no qemu-x86_64, so no older CPU was tried"
fi
echo "install: a portable program runs its $expected kernels, and those for AVX2 where WEFT_ISA asks for them"
