// Ranks of one machine divide its cores among themselves.
#pragma once

namespace weft::distributed {

class Communicator;

/// Sets the threads of this rank's kernels: `chosen`, where that is above 0; nothing where OMP_NUM_THREADS or
/// set_num_threads() chose before; else its share of the cores that the ranks of its machine may use together.
void divide_cores(Communicator& group, int chosen);

}  // namespace weft::distributed
