#include "distributed/node/window.h"

#include <sys/statvfs.h>

#include <cstring>

namespace weft::distributed {

Window::Window(const MpiLibrary& mpi, MpiHandle comm, int size, size_t bytes) : mpi_(mpi), bytes_(rounded(bytes)) {
  void* own = nullptr;
  check_mpi(mpi,
            mpi.win_allocate_shared(static_cast<intptr_t>(bytes_ + kPage), 1, mpi.info_null, comm,
                                    static_cast<void*>(&own), &window_),
            "MPI_Win_allocate_shared");
  for (int rank = 0; rank < size; ++rank) {
    intptr_t length = 0;
    int unit = 0;
    void* base = nullptr;
    check_mpi(mpi, mpi.win_shared_query(window_, rank, &length, &unit, static_cast<void*>(&base)),
              "MPI_Win_shared_query");
    // MPI puts its own data first. Mappings begin on pages, so that all ranks find the same page.
    const auto address = (reinterpret_cast<uintptr_t>(base) + kPage - 1) / kPage * kPage;
    parts_.push_back(reinterpret_cast<std::byte*>(address));
    if (base == own) std::memset(parts_.back(), 0, bytes_);
  }
  check_mpi(mpi, mpi.barrier(comm), "MPI_Barrier");
}

void Window::free() {
  if (window_ != 0) mpi_.win_free(&window_);
  window_ = 0;
}

bool has_shared_memory(size_t bytes, int ranks) {
  struct statvfs room {};
  if (statvfs("/dev/shm", &room) != 0) return true;  // MPI keeps it elsewhere
  return static_cast<double>(room.f_bavail) * static_cast<double>(room.f_frsize) >
         1.05 * ranks * static_cast<double>(bytes);
}

}  // namespace weft::distributed
