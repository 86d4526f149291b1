// Window: memory that the ranks of one machine share, a part for each.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "distributed/mpi/library.h"

namespace weft::distributed {

class Window {
 public:
  /// Zeroed memory of `bytes` for each rank of `comm`, whose ranks are all on this machine; each part begins on a page.
  /// Every rank calls it. DistributedError where MPI cannot.
  Window(const MpiLibrary& mpi, MpiHandle comm, int size, size_t bytes);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  /// Gives the memory back; every rank calls it. Without this call it lives as long as the process: a rank that ends
  /// with an error must not wait for the others.
  void free();

  std::byte* of(int rank) const { return parts_[static_cast<size_t>(rank)]; }
  size_t bytes() const { return bytes_; }
  /// Whether it is as large as one of `bytes` would be.
  bool fits(size_t bytes) const { return bytes_ == rounded(bytes); }

 private:
  static constexpr size_t kPage = 4096;
  static size_t rounded(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

  const MpiLibrary& mpi_;
  MpiHandle window_ = 0;
  size_t bytes_;
  std::vector<std::byte*> parts_;
};

/// Whether this machine has room for `bytes` of shared memory a rank: where it is a file system that is full, the first
/// write to a page would be a signal instead of an error.
bool has_shared_memory(size_t bytes, int ranks);

}  // namespace weft::distributed
