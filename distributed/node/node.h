// Node: the ranks of one machine, their slots and the memory they exchange data through.
#pragma once

#include <memory>

#include "distributed/node/slot.h"
#include "distributed/node/window.h"

namespace weft::distributed {

class Node {
 public:
  /// Published at once by a rank. A rank fills one area ahead of that which it waits for, and the others may be as far
  /// behind: where it waits for m it has filled m + 1, and others may still read m - 2.
  static constexpr int64_t kStaging = 128 * 1024;
  static constexpr uint64_t kAreas = 4;

  /// Every rank of `comm` calls it; `rank` is the caller's in the whole group.
  Node(const MpiLibrary& mpi, MpiHandle comm, int rank);

  int local_rank() const { return local_rank_; }
  int size() const { return size_; }
  Slot& slot(int local) const { return *reinterpret_cast<Slot*>(control_->of(local)); }
  Slot& own() const { return slot(local_rank_); }
  std::byte* staging(int local, uint64_t number) const {
    return control_->of(local) + kSlotBytes + static_cast<int64_t>(number % kAreas) * kStaging;
  }
  /// A new window of `bytes` a rank; every rank calls it, where all have found room for it.
  std::shared_ptr<Window> allocate(size_t bytes);
  /// Of each window so far, 1 where it is of this size and this rank no longer uses it.
  std::vector<int32_t> unused_windows(size_t bytes) const;
  /// A window that no rank uses, with this rank's part zeroed.
  std::shared_ptr<Window> use_again(size_t index);
  /// Every rank calls it, at the end.
  void free_windows();

 private:
  static constexpr int64_t kSlotBytes = 4096;
  static_assert(sizeof(Slot) <= kSlotBytes);

  const MpiLibrary& mpi_;
  MpiHandle comm_;
  int local_rank_ = 0, size_ = 1;
  std::unique_ptr<Window> control_;
  std::vector<std::shared_ptr<Window>> windows_;
};

}  // namespace weft::distributed
