// Messages: bytes under way between this rank and others.
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/mpi/library.h"

namespace weft::distributed {

class Communicator;

class Messages {
 public:
  Messages(Communicator& group, MpiHandle comm, int tag) : group_(group), comm_(comm), tag_(tag) {}
  /// Starts to send, in pieces: MPI counts in int, and each piece that has come shows that the ranks move.
  void send(const void* data, int64_t bytes, int to);
  /// Starts to receive what send() sends.
  void receive(void* data, int64_t bytes, int from);
  /// Forgets those that have come; whether all have.
  bool test();
  /// Adds the ranks that messages are awaited from, or where none is, those that have not taken theirs.
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
