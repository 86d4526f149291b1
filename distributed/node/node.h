// Node: the ranks on one machine, their slots, and the memory through which they exchange data.
#pragma once

#include <memory>

#include "distributed/node/slot.h"
#include "distributed/node/window.h"

namespace weft::distributed {

class Node {
 public:
  /// kStaging is the number of bytes that a rank publishes at a time. A rank may fill the area after the one that it
  /// waits for, and the others may be equally far behind: while it waits for area m, it has filled m + 1, and others
  /// may still read m - 2. So there are kAreas = 4.
  static constexpr int64_t kStaging = 128 * 1024;
  static constexpr uint64_t kAreas = 4;

  /// Every rank of `comm` must call it; `rank` is the caller's rank in the whole group.
  Node(const MpiLibrary& mpi, MpiHandle comm, int rank);

  int local_rank() const { return local_rank_; }
  int size() const { return size_; }
  Slot& slot(int local) const { return *reinterpret_cast<Slot*>(control_->of(local)); }
  Slot& own() const { return slot(local_rank_); }
  std::byte* staging(int local, uint64_t number) const {
    return control_->of(local) + kSlotBytes + static_cast<int64_t>(number % kAreas) * kStaging;
  }
  /// A new window with `bytes` per rank. Every rank must call it, after all have found room for it.
  std::shared_ptr<Window> allocate(size_t bytes);
  /// For each existing window: 1 if it has this size and this rank no longer uses it, else 0.
  std::vector<int32_t> unused_windows(size_t bytes) const;
  /// Reuses a window that no rank uses, and zeros this rank's part.
  std::shared_ptr<Window> use_again(size_t index);
  /// Frees all windows at the end; every rank must call it.
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
