#include "distributed/launch.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "distributed/error.h"
#include "distributed/mpi/launcher.h"

namespace weft::distributed {

bool has_launcher() { return !launcher_folder().empty(); }

void launch(int count, int argc, char** argv) {
  if (count < 0) throw DistributedError(text("launch: the number of processes must be 0 or more, not ", count));
  if (count <= 1 || !launched_by().empty()) return;
  if (!has_launcher())
    throw DistributedError(
        "launch: there is no mpirun to start the processes with; install it: apt-get install openmpi-bin");
  // As variables of the environment these reach Open MPI and mean nothing to MPICH, whose mpirun has no such options.
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  }
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
  // Open MPI would bind each of one or two ranks to a single core, however many there are.
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
  // The same two for Open MPI 5, whose launcher has its own names for them.
  setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
  setenv("PRTE_MCA_hwloc_default_binding_policy", "none", 0);
  std::vector<std::string> words = {"mpirun", "-n", std::to_string(count)};
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  words.emplace_back(length > 0 ? std::string(program, static_cast<size_t>(length)) : std::string(argv[0]));
  for (int i = 1; i < argc; ++i) words.emplace_back(argv[i]);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp("mpirun", arguments.data());
  throw DistributedError(text("launch: mpirun cannot be started: ", static_cast<const char*>(std::strerror(errno))));
}

}  // namespace weft::distributed
