// Starting the ranks from the program itself: what `--nproc N` does.
#pragma once

namespace weft::distributed {

/// Becomes `mpirun -n count` of this program with the same arguments, and so does not return; returns where there is
/// nothing to start: `count` is 0 or 1, or MPI has started this process already. mpirun is set up for root and for more
/// ranks than cores, and binds no rank to a core: init() divides them. DistributedError where there is no mpirun.
void launch(int count, int argc, char** argv);

/// Whether mpirun is in the path.
bool has_launcher();

}  // namespace weft::distributed
