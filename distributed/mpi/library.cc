#include "distributed/mpi/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "distributed/error.h"

namespace weft::distributed {
namespace {

constexpr const char* kOpenMpi = "libmpi.so.40";
constexpr const char* kMpich = "libmpich.so.12";  // Debian's name
constexpr const char* kMpichUpstream = "libmpi.so.12";

bool has(const char* variable) { return std::getenv(variable) != nullptr; }

/// The libraries to try: the one of the launcher first.
std::vector<std::string> candidates() {
  if (const char* chosen = std::getenv("WEFT_MPI"); chosen != nullptr && *chosen != '\0') return {chosen};
  if (has("PMI_RANK") && !has("OMPI_COMM_WORLD_SIZE")) return {kMpich, kMpichUpstream};
  if (has("OMPI_COMM_WORLD_SIZE")) return {kOpenMpi};
  return {kOpenMpi, kMpich, kMpichUpstream};
}

void* open_library() {
  std::string reasons;
  for (const std::string& name : candidates()) {
    // Global, since Open MPI opens plugins that look for its symbols.
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL); library != nullptr) return library;
    reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
  }
  throw DistributedError(text("init: ", launched_by(),
                              " says that MPI started this process, but MPI cannot be opened (", reasons,
                              "); install it: apt-get install openmpi-bin"));
}

template <class F> void find(void* library, const char* name, F*& function) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) throw DistributedError(text("init: the MPI library has no ", name, "; MPI 3 is needed"));
  function = reinterpret_cast<F*>(symbol);
}

/// Open MPI's handles are the addresses of these objects.
void set_openmpi(void* library, MpiLibrary& mpi) {
  const auto address = [&](const char* name) {
    void* symbol = dlsym(library, name);
    if (symbol == nullptr) throw DistributedError(text("init: the MPI library has no ", name));
    return reinterpret_cast<MpiHandle>(symbol);
  };
  mpi.world = address("ompi_mpi_comm_world");
  mpi.byte = address("ompi_mpi_byte");
  mpi.info_null = address("ompi_mpi_info_null");
  mpi.errors_return = address("ompi_mpi_errors_return");
  mpi.request_null = address("ompi_request_null");
  mpi.comm_type_shared = 0;
  mpi.any_source = -1;
  mpi.status_ignore = nullptr;
}

/// The constants of MPICH's ABI, which Intel MPI and MVAPICH share.
void set_mpich(MpiLibrary& mpi) {
  mpi.world = 0x44000000;
  mpi.byte = 0x4c00010d;
  mpi.info_null = 0x1c000000;
  mpi.errors_return = 0x54000001;
  mpi.request_null = 0x2c000000;
  mpi.comm_type_shared = 1;
  mpi.any_source = -2;
  mpi.status_ignore = reinterpret_cast<void*>(intptr_t{1});
}

MpiLibrary load() {
  void* library = open_library();
  MpiLibrary mpi{};
  if (dlsym(library, "ompi_mpi_comm_world") != nullptr)
    set_openmpi(library, mpi);
  else
    set_mpich(mpi);
  find(library, "MPI_Init_thread", mpi.init_thread);
  find(library, "MPI_Initialized", mpi.initialized);
  find(library, "MPI_Finalized", mpi.finalized);
  find(library, "MPI_Finalize", mpi.finalize);
  find(library, "MPI_Comm_rank", mpi.comm_rank);
  find(library, "MPI_Comm_size", mpi.comm_size);
  find(library, "MPI_Comm_dup", mpi.comm_dup);
  find(library, "MPI_Comm_split_type", mpi.comm_split_type);
  find(library, "MPI_Comm_set_errhandler", mpi.comm_set_errhandler);
  find(library, "MPI_Barrier", mpi.barrier);
  find(library, "MPI_Bcast", mpi.bcast);
  find(library, "MPI_Win_allocate_shared", mpi.win_allocate_shared);
  find(library, "MPI_Win_shared_query", mpi.win_shared_query);
  find(library, "MPI_Win_free", mpi.win_free);
  find(library, "MPI_Isend", mpi.isend);
  find(library, "MPI_Irecv", mpi.irecv);
  find(library, "MPI_Test", mpi.test);
  find(library, "MPI_Error_string", mpi.error_string);
  return mpi;
}

}  // namespace

const MpiLibrary& MpiLibrary::open() {
  static const MpiLibrary library = load();
  return library;
}

void check_mpi(const MpiLibrary& mpi, int code, const char* call) {
  if (code == 0) return;
  char reason[1024] = "";
  int length = 0;
  mpi.error_string(code, reason, &length);
  throw DistributedError(text(call, " failed: ", static_cast<const char*>(reason)));
}

std::string launched_by() {
  // Open MPI's mpirun; MPICH's and Intel's; Slurm's srun with PMIx or PMI2.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (const char* value = std::getenv(name)) return text(name, "=", value);
  return "";
}

}  // namespace weft::distributed
