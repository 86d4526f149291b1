#include "distributed/mpi/messages.h"

#include <algorithm>

#include "distributed/communicator.h"

namespace weft::distributed {
namespace {

constexpr int64_t kPiece = 1 << 24;

int length_of(int64_t bytes, int64_t at) { return static_cast<int>(std::min(kPiece, bytes - at)); }

}  // namespace

void Messages::send(const void* data, int64_t bytes, int to) {
  const MpiLibrary& mpi = group_.mpi();
  for (int64_t at = 0; at < bytes; at += kPiece) {
    under_way_.push_back({.request = mpi.request_null, .rank = to, .receives = false});
    check_mpi(mpi,
              mpi.isend(static_cast<const std::byte*>(data) + at, length_of(bytes, at), mpi.byte, to, tag_, comm_,
                        &under_way_.back().request),
              "MPI_Isend");
  }
}

void Messages::receive(void* data, int64_t bytes, int from) {
  const MpiLibrary& mpi = group_.mpi();
  for (int64_t at = 0; at < bytes; at += kPiece) {
    under_way_.push_back({.request = mpi.request_null, .rank = from, .receives = true});
    check_mpi(mpi,
              mpi.irecv(static_cast<std::byte*>(data) + at, length_of(bytes, at), mpi.byte, from, tag_, comm_,
                        &under_way_.back().request),
              "MPI_Irecv");
  }
}

bool Messages::test() {
  const MpiLibrary& mpi = group_.mpi();
  std::erase_if(under_way_, [&](Message& message) {
    int arrived = 0;
    check_mpi(mpi, mpi.test(&message.request, &arrived, mpi.status_ignore), "MPI_Test");
    if (arrived != 0) group_.note_move();
    return arrived != 0;
  });
  return under_way_.empty();
}

void Messages::add_missing(std::vector<int>& ranks) const {
  const bool receives = std::any_of(under_way_.begin(), under_way_.end(), [](const Message& m) { return m.receives; });
  for (const Message& message : under_way_)
    if (message.receives == receives && std::find(ranks.begin(), ranks.end(), message.rank) == ranks.end())
      ranks.push_back(message.rank);
}

}  // namespace weft::distributed
