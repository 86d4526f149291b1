// An MPI library that knows one process, whatever its launcher started. WEFT_TEST_ABI chooses its constants: `1`, the
// ABI that MPI 5 standardizes; `-1`, MPICH's, of a library that knows of the standard's. Others fail.
#include <cstdint>
#include <cstdlib>

namespace {

bool is_standard() {
  const char* version = std::getenv("WEFT_TEST_ABI");
  return version != nullptr && std::atoi(version) == 1;
}
int give(int* out, int value) { return *out = value, 0; }
int give_of_world(intptr_t comm, int* out, int value) {
  return comm == (is_standard() ? 0x101 : 0x44000000) ? give(out, value) : 5;
}

}  // namespace

extern "C" {

int MPI_Abi_get_version(int* major, int* minor) { return give(major, is_standard() ? 1 : -1), give(minor, 0); }
int MPI_Init_thread(int*, char***, int required, int* provided) {
  return required == (is_standard() ? 2048 : 2) ? give(provided, required) : 12;
}
int MPI_Initialized(int* flag) { return give(flag, 0); }
int MPI_Finalized(int* flag) { return give(flag, 0); }
int MPI_Finalize() { return 0; }
int MPI_Comm_size(intptr_t comm, int* size) { return give_of_world(comm, size, 1); }
int MPI_Comm_rank(intptr_t comm, int* rank) { return give_of_world(comm, rank, 0); }
int MPI_Error_string(int, char*, int* length) { return give(length, 0); }

// One rank alone calls none of these.
#define WEFT_TEST_UNUSED(name) \
  int name() { return 16; }
WEFT_TEST_UNUSED(MPI_Comm_dup)
WEFT_TEST_UNUSED(MPI_Comm_split_type)
WEFT_TEST_UNUSED(MPI_Comm_set_errhandler)
WEFT_TEST_UNUSED(MPI_Barrier)
WEFT_TEST_UNUSED(MPI_Bcast)
WEFT_TEST_UNUSED(MPI_Win_allocate_shared)
WEFT_TEST_UNUSED(MPI_Win_shared_query)
WEFT_TEST_UNUSED(MPI_Win_free)
WEFT_TEST_UNUSED(MPI_Isend)
WEFT_TEST_UNUSED(MPI_Irecv)
WEFT_TEST_UNUSED(MPI_Test)
WEFT_TEST_UNUSED(MPI_Cancel)
WEFT_TEST_UNUSED(MPI_Wait)

}  // extern "C"
