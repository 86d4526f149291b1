// Notice: tells the ranks on other machines that a rank has failed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "distributed/mpi/library.h"

namespace weft::distributed {

class Notice {
 public:
  Notice(const MpiLibrary& mpi, MpiHandle comm, int rank, int size);
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;
  /// Sends the reason for this rank's failure to all ranks, without waiting. It needs no memory, which may be the
  /// reason.
  void send(std::string_view why);
  /// Receives no more: MPI must not be finalized with a receive that waits.
  void stop();
  /// A notice from another rank, if there is one.
  std::optional<std::string> poll();

 private:
  static constexpr int kBytes = 1000;
  static constexpr int kTag = 1;
  const MpiLibrary& mpi_;
  MpiHandle comm_, request_;
  int rank_, size_;
  // Never freed: MPI may write to `text_` and read `sent_` until the process ends.
  char* text_;
  char* sent_;
};

}  // namespace weft::distributed
