// Messages: bytes in transit between this rank and others.
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/mpi/library.h"

namespace weft::distributed {

class Communicator;

class Messages {
 public:
  Messages(Communicator& group, MpiHandle comm, int tag) : group_(group), comm_(comm), tag_(tag) {}
  /// Starts sending, in pieces: MPI counts in int, and each piece that arrives shows that the ranks make progress.
  void send(const void* data, int64_t bytes, int to);
  /// Starts receiving what send() sends.
  void receive(void* data, int64_t bytes, int from);
  /// Removes completed messages. Returns whether all are complete.
  bool test();
  /// Adds the ranks from which messages are awaited; if there are none, the ranks that have not received theirs.
  void add_missing(std::vector<int>& ranks) const;

 private:
  struct Message {
    MpiHandle request;
    int rank;
    bool receives;
  };
  Communicator& group_;
  MpiHandle comm_;
  int tag_;
  std::vector<Message> under_way_;
};

}  // namespace weft::distributed
