#!/usr/bin/env bash
# The program that a user writes, alone and on two ranks.
set -euo pipefail
program=$1
"$program"
if ! command -v mpirun >/dev/null; then
  echo "skipped under mpirun: there is none (apt-get install openmpi-bin)"
  exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
out=${TEST_TMPDIR:-$(mktemp -d)}/out
mpirun -n 2 "$program" | tee "$out"
grep -q '^ok on 2 ranks' "$out"
