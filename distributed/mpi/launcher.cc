#include "distributed/mpi/launcher.h"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "tensor/core/error.h"
#include "tensor/runtime/log.h"

namespace weft::distributed {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

int number(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : 0;
}

struct Process {
  std::string name;
  pid_t parent = 0;  // 0 above the first process of a container
};

Process process_of(pid_t id) {
  Process out;
  std::ifstream status("/proc/" + std::to_string(id) + "/status");
  for (std::string key; status >> key;) {
    if (key == "Name:") status >> out.name;
    if (key == "PPid:") return status >> out.parent, out;
    std::getline(status, key);
  }
  return out;
}

/// Of Open MPI 4: mpirun, orterun, orted on other machines; of Open MPI 5: mpirun, prterun, prte, prted.
bool is_name_of_launcher(std::string_view name) {
  for (const char* start : {"mpirun", "mpiexec", "orte", "prte"})
    if (name.starts_with(start)) return true;
  return false;
}

int cores_of(pid_t process) {
  cpu_set_t mask;
  return sched_getaffinity(process, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

}  // namespace

std::string launched_by() {
  // Open MPI's mpirun; MPICH's and Intel's; Slurm's srun with PMIx or PMI2.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (const char* value = std::getenv(name)) return text(name, "=", value);
  return "";
}

int ranks_started() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (std::getenv(name) != nullptr) return number(name);
  // PMIx has no such variable. Slurm's counts the tasks of srun, which may have started another launcher.
  return variable("PMIX_NAMESPACE").starts_with("slurm.pmix.") ? number("SLURM_STEP_NUM_TASKS") : 0;
}

std::string launcher_folder() {
  std::istringstream folders{std::string(variable("PATH"))};
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) folder = ".";  // as execvp() reads it
    if (access((folder + "/mpirun").c_str(), X_OK) == 0) return folder;
  }
  return "";
}

int cores_before_binding() {
  if (variable("OMPI_COMM_WORLD_SIZE").empty()) return 0;
  // Open MPI 4 says whether it bound the process; 5 does not.
  if (!variable("OMPI_MCA_orte_launch").empty() && variable("OMPI_MCA_orte_bound_at_launch").empty()) return 0;
  // A script may be between the launcher and this process, and bind it by itself.
  for (pid_t child = getpid(), parent = getppid(); parent > 0;) {
    const Process above = process_of(parent);
    if (const int cores = cores_of(parent); is_name_of_launcher(above.name)) return cores_of(child) < cores ? cores : 0;
    child = parent, parent = above.parent;
  }
  return 0;
}

void warn_of_lone_tasks() {
  const int tasks = number("SLURM_STEP_NUM_TASKS");
  if (tasks <= 1 || number("SLURM_PROCID") != 0) return;  // one task's line is enough
  [[maybe_unused]] static const bool warned = [&] {
    log_warn(text("srun started ", tasks,
                  " tasks, but not as ranks of MPI: each is a group of its own; with --mpi=pmix ",
                  "or --mpi=pmi2 they are one group"));
    return true;
  }();
}

}  // namespace weft::distributed
