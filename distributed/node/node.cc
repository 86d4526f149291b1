#include "distributed/node/node.h"

#include <sys/stat.h>
#include <unistd.h>

#include <new>

namespace weft::distributed {

Node::Node(const MpiLibrary& mpi, MpiHandle comm, int rank) : mpi_(mpi), comm_(comm) {
  check_mpi(mpi, mpi.comm_set_errhandler(comm, mpi.errors_return), "MPI_Comm_set_errhandler");
  check_mpi(mpi, mpi.comm_rank(comm, &local_rank_), "MPI_Comm_rank");
  check_mpi(mpi, mpi.comm_size(comm, &size_), "MPI_Comm_size");
  control_ = std::make_unique<Window>(mpi, comm, size_, static_cast<size_t>(kSlotBytes + 2 * kStaging));
  Slot* slot = new (control_->of(local_rank_)) Slot();
  slot->rank = rank;
  slot->process = getpid();
  struct stat names {};
  slot->process_names = stat("/proc/self/ns/pid", &names) == 0 ? names.st_ino : 0;
  slot->state.store(State::running, std::memory_order_release);
  check_mpi(mpi, mpi.barrier(comm), "MPI_Barrier");
}

std::shared_ptr<Window> Node::allocate(size_t bytes) {
  if (!has_shared_memory(bytes * static_cast<size_t>(size_))) return nullptr;
  windows_.push_back(std::make_shared<Window>(mpi_, comm_, size_, bytes));
  return windows_.back();
}

void Node::free_windows() {
  for (const auto& window : windows_) window->free();
  control_->free();
}

}  // namespace weft::distributed
