#!/usr/bin/env bash
# Two ranks by messages over TCP in a network of their own (a network namespace) that delays every packet by 2 ms and
# loses one of a hundred. Where the machine gives no namespace, or its kernel has no such network (sch_netem), a line
# says so.
set -euo pipefail
program=$1
if ! command -v mpirun >/dev/null; then
  echo "skipped: there is no mpirun (apt-get install openmpi-bin)"
  exit 0
fi
if ! unshare --user --map-root-user --net true 2>/dev/null; then
  echo "skipped: this machine gives no network namespace"
  exit 0
fi
if ! command -v ip >/dev/null; then
  echo "skipped: there is no ip to start the network's device with (apt-get install iproute2)"
  exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# By TCP over the loopback device, which Open MPI would leave out.
export WEFT_DISTRIBUTED_SHARED_MEMORY=0 OMPI_MCA_btl=tcp,self OMPI_MCA_pml=ob1
export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
out=${TEST_TMPDIR:-$(mktemp -d)}/out
unshare --user --map-root-user --net bash -c '
  ip link set lo up || exit 1
  tc qdisc add dev lo root netem delay 2ms loss 1% 2>/dev/null || echo "without delay and loss: this kernel has no netem"
  mpirun -n 2 "$1"' network "$program" | tee "$out"
grep -q '^ok on 2 ranks' "$out"
