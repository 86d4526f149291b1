// Divides a machine's cores among its ranks.
#pragma once

namespace weft::distributed {

class Communicator;

/// For a group of one rank, which has the cores that its process has: warns where mpirun bound it to fewer than there
/// are, unless the number of threads was chosen.
void warn_of_few_cores(int chosen);

/// Sets the number of threads for this rank's kernels: `chosen` if it is above 0. Otherwise it keeps the number that
/// OMP_NUM_THREADS or set_num_threads() chose; without one, it takes this rank's share of the cores that all ranks on
/// the machine may use.
void divide_cores(Communicator& group, int chosen);

}  // namespace weft::distributed
