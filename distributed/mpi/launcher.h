// What started this process, as its environment and the processes above it tell.
#pragma once

#include <string>

namespace weft::distributed {

/// The environment variable that shows that an MPI launcher (mpirun, srun) started this process, such as
/// `OMPI_COMM_WORLD_SIZE=2`; empty if none did.
std::string launched_by();

/// The number of ranks that the launcher says it started; 0 where it does not say.
int ranks_started();

/// The folder of the first mpirun in the PATH; empty if there is none.
std::string launcher_folder();

/// The number of cores that Open MPI's launcher may use itself, where it bound this process to fewer; 0 otherwise.
int cores_before_binding();

/// Warns, once, where srun started several tasks that are no ranks: each is a group of its own.
void warn_of_lone_tasks();

}  // namespace weft::distributed
