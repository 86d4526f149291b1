#!/usr/bin/env bash
# Two ranks with a sharded optimizer stop in the middle of an epoch; 1, 2 and 4 ranks go on from their checkpoint and
# reach, byte for byte, what one process reaches that adds up as they did.
set -euo pipefail
program=$1
folder=${TEST_TMPDIR:-$(mktemp -d)}
if ! command -v mpirun >/dev/null; then
  echo "skipped: there is no mpirun (apt-get install openmpi-bin)"
  exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpirun -n 2 "$program" first "$folder/checkpoint"
for ranks in 1 2 4; do
  mpirun -n $ranks "$program" second "$folder/checkpoint" "$folder/out"
  "$program" reference 2 $ranks "$folder/expected"
  cmp "$folder/out" "$folder/expected"
  echo "from 2 to $ranks ranks: the same bytes"
done
