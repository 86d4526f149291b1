// Notice: how ranks on other machines learn that one has failed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "distributed/mpi/library.h"

namespace weft::distributed {

class Notice {
 public:
  Notice(const MpiLibrary& mpi, MpiHandle comm, int rank, int size);
  Notice(const Notice&) = delete;
  Notice& operator=(const Notice&) = delete;
  /// Tells all ranks why this one has failed, without waiting for them.
  void send(const std::string& why);
  /// What another rank has said, if any did.
  std::optional<std::string> poll();

 private:
  static constexpr int kBytes = 1000;
  static constexpr int kTag = 1;
  const MpiLibrary& mpi_;
  MpiHandle comm_, request_;
  int rank_, size_;
  // Never given back: MPI may write to the one and read the other until the process ends.
  char* text_;
  char* sent_;
};

}  // namespace weft::distributed
