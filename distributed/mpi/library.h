// MPI, loaded at run time. weft declares the few functions that it calls itself. So neither building weft nor running a
// single process needs MPI, and one binary runs under Open MPI, MPICH and Intel MPI.
//
// There are three ABIs, which differ in the type of handles (Open MPI, and the standard of MPI 5: pointer to a
// structure; MPICH: int) and in their constants. Here a handle is an integer as wide as a pointer. MPICH's functions
// read the lower half of the register, and write the lower half of an out-parameter that was zero. This works with the
// calling conventions of x86-64 and AArch64, both little-endian.
#pragma once

#include <cstdint>

namespace weft::distributed {

/// MPI_Comm, MPI_Win, MPI_Datatype, MPI_Info, MPI_Request, MPI_Errhandler.
using MpiHandle = intptr_t;

/// What differs between ABIs.
struct MpiConstants {
  MpiHandle world, byte, info_null, errors_return, request_null;
  int comm_type_shared, any_source, thread_serialized;
  intptr_t ignored_status;
};

struct MpiLibrary : MpiConstants {
  void* status_ignore;
  const char* path = "";  // of the library, which is never closed

  int (*init_thread)(int*, char***, int required, int* provided);
  int (*initialized)(int* flag);
  int (*finalized)(int* flag);
  int (*finalize)();
  int (*comm_rank)(MpiHandle, int*);
  int (*comm_size)(MpiHandle, int*);
  int (*comm_dup)(MpiHandle, MpiHandle*);
  int (*comm_split_type)(MpiHandle, int type, int key, MpiHandle info, MpiHandle*);
  int (*comm_set_errhandler)(MpiHandle, MpiHandle);
  int (*barrier)(MpiHandle);
  int (*bcast)(void*, int count, MpiHandle type, int root, MpiHandle);
  int (*win_allocate_shared)(intptr_t bytes, int unit, MpiHandle info, MpiHandle, void* base, MpiHandle* window);
  int (*win_shared_query)(MpiHandle window, int rank, intptr_t* bytes, int* unit, void* base);
  int (*win_free)(MpiHandle*);
  int (*isend)(const void*, int count, MpiHandle type, int to, int tag, MpiHandle, MpiHandle* request);
  int (*irecv)(void*, int count, MpiHandle type, int from, int tag, MpiHandle, MpiHandle* request);
  int (*test)(MpiHandle* request, int* flag, void* status);
  int (*cancel)(MpiHandle* request);
  int (*wait)(MpiHandle* request, void* status);
  int (*error_string)(int code, char* text, int* length);

  /// Opens the library that belongs to the launcher of this process, first that beside the first mpirun of the PATH;
  /// WEFT_MPI selects another file. DistributedError, with one line that says what to install, if there is none.
  static const MpiLibrary& open();
};

/// DistributedError if `code` is not MPI_SUCCESS; `call` is the name of the function.
void check_mpi(const MpiLibrary& mpi, int code, const char* call);

}  // namespace weft::distributed
