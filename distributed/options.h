// Options of init().
#pragma once

namespace weft::distributed {

struct InitOptions {
  /// Timeout in seconds: how long a rank waits for another one that neither arrives nor ends. The environment variable
  /// WEFT_DISTRIBUTED_TIMEOUT overrides it. It must be longer than anything that one rank does alone (an evaluation, a
  /// checkpoint), unless the others wait for it in Group::barrier() with a longer timeout.
  double timeout = 60;
  /// Use shared memory if all ranks are on one machine. Otherwise, or if false (or WEFT_DISTRIBUTED_SHARED_MEMORY=0 in
  /// the environment), ranks exchange messages.
  bool shared_memory = true;
  /// Number of threads for the kernels of each rank, also of a single process. 0: the machine's cores divided by its
  /// ranks, unless set_num_threads() or OMP_NUM_THREADS chose a number before.
  int threads = 0;
};

}  // namespace weft::distributed
