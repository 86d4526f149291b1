// set_short_spins(): OpenMP's threads sleep early while they wait.
//
// A thread of libgomp that waits for others spins 300,000 times (some milliseconds) before it sleeps. Where another
// process wants the cores, it holds a core all that time that the thread it waits for could use. libgomp spins 100
// times only while the process has more OpenMP threads than there are cores (its manual: GOMP_SPINCOUNT). So, while
// this is on, a thread keeps a team of its own that only sleeps. The environment (GOMP_SPINCOUNT, OMP_WAIT_POLICY) is
// read when libgomp is loaded, too early for a library to set it.
#pragma once

namespace weft::detail {

/// Switches it on or off, for the whole process. Where no thread can be started, nothing happens.
void set_short_spins(bool on);

}  // namespace weft::detail
