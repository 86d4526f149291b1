#!/bin/sh
# One archive of two builds of the same sources: `two_builds.sh OUT BASELINE AVX512 NM LD OBJCOPY OBJDUMP AR CC`.
#
# A global function `f` of the archives becomes `f.avx2` and `f.avx512`, and `f` itself a jump through a table that choose.cc fills.
# Everything else of the AVX-512 build is made local: the linker could otherwise take its copy of an inline function (std::vector's,
# say) for the whole program. A process uses one build only, so that state inside of the kernels is not split; what could be seen
# from outside, or would run before the choice, is refused here.
set -eu
out=$1 baseline=$2 avx512=$3 nm=$4 ld=$5 objcopy=$6 objdump=$7 ar=$8 cc=$9
work=$out.work
rm -rf "$work"
mkdir -p "$work"

stop() {
  echo "two_builds: $*" >&2
  exit 1
}

# Functions with external linkage, and kernels that are members of a template (op::Unary<...>::cpu), which are weak.
functions() {
  "$nm" -P --defined-only --extern-only "$1" |
    awk '$2 == "T" || ($2 == "W" && $1 ~ /^_ZNK?4weft2op.*3cpuE/) { print $1 }' | sort -u
}
functions "$baseline" >"$work/functions"
functions "$avx512" >"$work/functions_avx512"
cmp -s "$work/functions" "$work/functions_avx512" ||
  stop "functions that only one build has: $(diff "$work/functions" "$work/functions_avx512" | grep '^[<>]' | head -n 5)"
[ -s "$work/functions" ] || stop "$baseline defines no function"

# Variables that other objects see, also by way of a header; DW.ref.* are constants of the compiler's. The flags of a symbol begin at
# column 18 (`g` global, `u` unique, ` w` weak), its section at column 26. What Eigen knows of the caches may be known twice.
"$objdump" -t "$avx512" |
  awk '{ flags = substr($0, 18, 2); section = substr($0, 26) }
       flags ~ /^([gu!]|.w)/ && section ~ /^\.(bss|tbss|data|tdata)/ && section !~ /^\.data\.rel\.ro|DW\.ref\.|manage_caching_sizes/' >"$work/variables"
[ ! -s "$work/variables" ] || stop "variables that both builds would have: $(head -n 5 "$work/variables")"
! "$objdump" -h "$avx512" | grep -q '\.init_array' || stop "a static initializer would run on every CPU"

sed 's/.*/& &.avx2/' "$work/functions" >"$work/avx2"
sed 's/.*/& &.avx512/' "$work/functions" >"$work/avx512"
"$objcopy" --redefine-syms="$work/avx2" "$baseline" "$out"
"$ld" -r --force-group-allocation --whole-archive "$avx512" -o "$work/whole.o"
# What is unique in a process (constants of inline functions) stays global all the same, under another name.
"$nm" -P --defined-only "$work/whole.o" | awk '$2 == "u" { print $1, $1 ".avx512" }' >>"$work/avx512"
"$objcopy" --keep-global-symbols="$work/functions" "$work/whole.o" "$work/local.o"
"$objcopy" --redefine-syms="$work/avx512" "$work/local.o" "$work/weft_kernels_avx512.o"

awk '
  { name[NR] = $1 }
  END {
    print "  .text"
    for (i = 1; i <= NR; ++i) {
      print "  .globl " name[i] "\n  .type " name[i] ", @function\n  .p2align 4\n" name[i] ":"
      print "  endbr64\n  jmp *weft_kernels+" 8 * (i - 1) "(%rip)\n  .size " name[i] ", .-" name[i]
    }
    print "  .data\n  .globl weft_kernels\n  .p2align 6\nweft_kernels:"
    for (i = 1; i <= NR; ++i) print "  .quad " name[i] ".avx2"
    print "  .section .data.rel.ro,\"aw\"\n  .globl weft_kernels_avx512\n  .p2align 6\nweft_kernels_avx512:"
    for (i = 1; i <= NR; ++i) print "  .quad " name[i] ".avx512"
    print "  .section .rodata,\"a\"\n  .globl weft_kernel_count\n  .p2align 3\nweft_kernel_count:\n  .quad " NR
    # Before the static initializers of C++, which have priorities from 101 on only where they ask for one.
    print "  .section .init_array.00101,\"aw\"\n  .p2align 3\n  .quad weft_choose_kernels"
    print "  .section .note.GNU-stack,\"\",@progbits"
  }' "$work/functions" >"$work/weft_kernels.s"
"$cc" -c "$work/weft_kernels.s" -o "$work/weft_kernels.o"
"$ar" rs "$out" "$work/weft_kernels.o" "$work/weft_kernels_avx512.o" 2>/dev/null
rm -rf "$work"
