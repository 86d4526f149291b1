#include "distributed/node/node.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "distributed/error.h"

namespace weft::distributed {

Node::Node(const MpiLibrary& mpi, MpiHandle comm, int rank) : mpi_(mpi), comm_(comm) {
  check_mpi(mpi, mpi.comm_set_errhandler(comm, mpi.errors_return), "MPI_Comm_set_errhandler");
  check_mpi(mpi, mpi.comm_rank(comm, &local_rank_), "MPI_Comm_rank");
  check_mpi(mpi, mpi.comm_size(comm, &size_), "MPI_Comm_size");
  const auto bytes = static_cast<size_t>(kSlotBytes + static_cast<int64_t>(kAreas) * kStaging);
  // The first rank's finding is all ranks': in MPI's call, those that found room would wait for those that did not.
  char room = has_shared_memory(bytes, size_) ? 1 : 0;
  check_mpi(mpi, mpi.bcast(&room, 1, mpi.byte, 0, comm), "MPI_Bcast");
  if (room == 0)
    throw DistributedError(text("init: /dev/shm has no room for ", size_, " times ", bytes,
                                " bytes, through which the ranks of a machine exchange data; mount it larger"));
  control_ = std::make_unique<Window>(mpi, comm, size_, bytes);
  Slot* slot = new (control_->of(local_rank_)) Slot();
  slot->rank = rank;
  slot->process = getpid();
  struct stat names {};
  slot->process_names = stat("/proc/self/ns/pid", &names) == 0 ? names.st_ino : 0;
  slot->state.store(State::running, std::memory_order_release);
  check_mpi(mpi, mpi.barrier(comm), "MPI_Barrier");
}

std::shared_ptr<Window> Node::allocate(size_t bytes) {
  windows_.push_back(std::make_shared<Window>(mpi_, comm_, size_, bytes));
  return windows_.back();
}

std::vector<int32_t> Node::unused_windows(size_t bytes) const {
  std::vector<int32_t> out;
  for (const auto& window : windows_) out.push_back(window.use_count() == 1 && window->fits(bytes) ? 1 : 0);
  return out;
}

std::shared_ptr<Window> Node::use_again(size_t index) {
  const std::shared_ptr<Window>& window = windows_[index];
  std::memset(window->of(local_rank_), 0, window->bytes());
  return window;
}

void Node::free_windows() {
  for (const auto& window : windows_) window->free();
  control_->free();
}

}  // namespace weft::distributed
