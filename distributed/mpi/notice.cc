#include "distributed/mpi/notice.h"

#include <algorithm>
#include <cstring>

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

void Notice::send(const std::string& why) {
  if (sent_[0] != '\0') return;  // the first failure is the cause
  const std::string line = text("rank ", rank_, " failed: ", why);
  std::memcpy(sent_, line.data(), std::min<size_t>(line.size(), kBytes - 1));
  for (int rank = 0; rank < size_; ++rank) {
    MpiHandle request = mpi_.request_null;
    if (rank != rank_ && mpi_.isend(sent_, kBytes, mpi_.byte, rank, kTag, comm_, &request) != 0) return;
  }
}

std::optional<std::string> Notice::poll() {
  int arrived = 0;
  if (mpi_.test(&request_, &arrived, mpi_.status_ignore) != 0 || arrived == 0 || text_[0] == '\0') return std::nullopt;
  return std::string(text_);
}

}  // namespace weft::distributed
