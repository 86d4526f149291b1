// Starts the ranks from within the program, for a `--nproc N` option.
#pragma once

namespace weft::distributed {

/// Replaces this process by `mpirun -n count` of the same program with the same arguments, so it does not return. It
/// returns only if there is nothing to start: `count` is 0 or 1, or MPI already started this process. mpirun is
/// configured to run as root, to allow more ranks than cores, and not to bind ranks to cores, because init() divides
/// them. DistributedError if count < 0 or there is no mpirun.
void launch(int count, int argc, char** argv);

/// Whether mpirun is in the PATH.
bool has_launcher();

}  // namespace weft::distributed
