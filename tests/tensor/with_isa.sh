#!/usr/bin/env bash
# with_isa.sh ISA PROGRAM: the program's tests as they run on a CPU that has no more than ISA, by oneDNN's switch, which
# weft's own choice of bf16 instructions heeds as well.
set -euo pipefail
export DNNL_MAX_CPU_ISA=$1
shift
exec "$@"
