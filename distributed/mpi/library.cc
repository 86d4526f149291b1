#include "distributed/mpi/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "distributed/error.h"
#include "distributed/mpi/launcher.h"

namespace weft::distributed {
namespace {

constexpr const char* kOpenMpi = "libmpi.so.40";
constexpr const char* kMpich = "libmpich.so.12";  // Debian's name
constexpr const char* kMpichUpstream = "libmpi.so.12";
constexpr const char* kStandard = "libmpi_abi.so.1";

bool has(const char* variable) { return std::getenv(variable) != nullptr; }
bool is_open_mpi() { return has("OMPI_COMM_WORLD_SIZE"); }
/// Of the family: Intel MPI is one.
bool is_mpich() { return has("PMI_RANK") && !is_open_mpi(); }

/// The libraries to try: the one of the launcher first.
std::vector<std::string> candidates() {
  if (const char* chosen = std::getenv("WEFT_MPI"); chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<std::string> names = {kOpenMpi, kMpich, kMpichUpstream, kStandard};
  if (is_open_mpi()) names = {kOpenMpi, kStandard};
  if (is_mpich()) names = {kMpich, kMpichUpstream, kStandard};
  // An MPI in a folder of its own (pip, conda, a module) has it beside its mpirun.
  std::vector<std::string> out;
  if (const std::string folder = launcher_folder(); !folder.empty())
    for (const std::string& name : names)
      if (const std::string path = folder + "/../lib/" + name; access(path.c_str(), R_OK) == 0) out.push_back(path);
  out.insert(out.end(), names.begin(), names.end());
  return out;
}

void* open_library() {
  std::string reasons;
  for (const std::string& name : candidates()) {
    // Global, since Open MPI opens plugins that look for its symbols.
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL); library != nullptr) return library;
    reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
  }
  throw DistributedError(text(
      "init: ", launched_by(), " says that MPI started this process, but MPI cannot be opened (", reasons,
      "); install it: apt-get install ", is_mpich() ? "mpich" : "openmpi-bin", ", or set WEFT_MPI=/path/to/libmpi.so"));
}

template <class F> void find(void* library, const char* name, F*& function) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) throw DistributedError(text("init: the MPI library has no ", name, "; MPI 3 is needed"));
  function = reinterpret_cast<F*>(symbol);
}

/// Open MPI's handles are the addresses of these objects.
MpiConstants openmpi(void* library) {
  const auto address = [&](const char* name) {
    void* symbol = dlsym(library, name);
    if (symbol == nullptr) throw DistributedError(text("init: the MPI library has no ", name));
    return reinterpret_cast<MpiHandle>(symbol);
  };
  return {.world = address("ompi_mpi_comm_world"),
          .byte = address("ompi_mpi_byte"),
          .info_null = address("ompi_mpi_info_null"),
          .errors_return = address("ompi_mpi_errors_return"),
          .request_null = address("ompi_request_null"),
          .comm_type_shared = 0,
          .any_source = -1,
          .thread_serialized = 2,
          .ignored_status = 0};
}

/// MPICH's ABI, which Intel MPI and MVAPICH share.
constexpr MpiConstants kOfMpich = {.world = 0x44000000,
                                   .byte = 0x4c00010d,
                                   .info_null = 0x1c000000,
                                   .errors_return = 0x54000001,
                                   .request_null = 0x2c000000,
                                   .comm_type_shared = 1,
                                   .any_source = -2,
                                   .thread_serialized = 2,
                                   .ignored_status = 1};

/// The ABI that MPI 5 standardizes. MPICH 5 and Intel MPI have a second library of it.
constexpr MpiConstants kOfStandard = {.world = 0x101,
                                      .byte = 0x247,
                                      .info_null = 0x130,
                                      .errors_return = 0x143,
                                      .request_null = 0x180,
                                      .comm_type_shared = 221,
                                      .any_source = -1,
                                      .thread_serialized = 2048,
                                      .ignored_status = 0};

/// Whether the library has the standard's constants. One with constants of its own may have the function too, which
/// then answers -1; and in one of the standard's, dlsym() may find symbols of a library with others below it.
bool is_standard(void* library) {
  const auto version = reinterpret_cast<int (*)(int*, int*)>(dlsym(library, "MPI_Abi_get_version"));
  int major = -1, minor = -1;
  return version != nullptr && version(&major, &minor) == 0 && major >= 1;
}

MpiLibrary load() {
  void* library = open_library();
  MpiLibrary mpi{};
  const bool open_mpi = dlsym(library, "ompi_mpi_comm_world") != nullptr;
  static_cast<MpiConstants&>(mpi) = is_standard(library) ? kOfStandard : open_mpi ? openmpi(library) : kOfMpich;
  mpi.status_ignore = reinterpret_cast<void*>(mpi.ignored_status);
  find(library, "MPI_Init_thread", mpi.init_thread);
  Dl_info file{};
  if (dladdr(reinterpret_cast<void*>(mpi.init_thread), &file) != 0) mpi.path = file.dli_fname;
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
  find(library, "MPI_Cancel", mpi.cancel);
  find(library, "MPI_Wait", mpi.wait);
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

}  // namespace weft::distributed
