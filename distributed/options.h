// Options of init().
#pragma once

namespace weft::distributed {

struct InitOptions {
  /// Seconds that a rank waits for another that neither comes nor ends; WEFT_DISTRIBUTED_TIMEOUT in the environment
  /// says otherwise. It must be longer than what one rank may do alone (an evaluation, a checkpoint).
  double timeout = 60;
  /// Sum in shared memory where all ranks are on one machine; else, and without it (WEFT_DISTRIBUTED_SHARED_MEMORY=0 in
  /// the environment), by messages.
  bool shared_memory = true;
  /// Threads of each rank's kernels, also of a process alone; 0: the cores of the machine divided by its ranks, unless
  /// OMP_NUM_THREADS is set.
  int threads = 0;
};

}  // namespace weft::distributed
