#include "distributed/mpi/notice.h"

#include <cstdio>

#include "tensor/core/error.h"

namespace weft::distributed {

Notice::Notice(const MpiLibrary& mpi, MpiHandle comm, int rank, int size)
    : mpi_(mpi),
      comm_(comm),
      request_(mpi.request_null),
      rank_(rank),
      size_(size),
      text_(new char[kBytes + 1]()),
      sent_(new char[kBytes]()) {
  check_mpi(mpi, mpi.irecv(text_, kBytes, mpi.byte, mpi.any_source, kTag, comm, &request_), "MPI_Irecv");
}

void Notice::send(std::string_view why) {
  if (sent_[0] != '\0') return;  // the first failure is the cause
  std::snprintf(sent_, kBytes, "rank %d failed: %.*s", rank_, static_cast<int>(why.size()), why.data());
  for (int rank = 0; rank < size_; ++rank) {
    MpiHandle request = mpi_.request_null;
    if (rank != rank_ && mpi_.isend(sent_, kBytes, mpi_.byte, rank, kTag, comm_, &request) != 0) return;
  }
}

void Notice::stop() {
  if (request_ == mpi_.request_null) return;  // it has arrived
  if (mpi_.cancel(&request_) == 0) mpi_.wait(&request_, mpi_.status_ignore);
}

std::optional<std::string> Notice::poll() {
  int arrived = 0;
  if (mpi_.test(&request_, &arrived, mpi_.status_ignore) != 0 || arrived == 0 || text_[0] == '\0') return std::nullopt;
  return std::string(text_);
}

}  // namespace weft::distributed
