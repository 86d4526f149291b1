// Window: memory that the ranks on one machine share, with one part per rank.
#pragma once

#include <cstddef>
#include <vector>

#include "distributed/mpi/library.h"

namespace weft::distributed {

class Window {
 public:
  /// Allocates zeroed memory with `bytes` for each rank of `comm`, whose ranks must all be on this machine. Each part
  /// starts at a page boundary. Every rank must call it. DistributedError if MPI fails.
  Window(const MpiLibrary& mpi, MpiHandle comm, int size, size_t bytes);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  /// Frees the memory; every rank must call it. Without this call the memory lives as long as the process, because a
  /// rank that ends with an error must not wait for the others.
  void free();

  std::byte* of(int rank) const { return parts_[static_cast<size_t>(rank)]; }
  size_t bytes() const { return bytes_; }
  /// Whether its size equals that of a window of `bytes`.
  bool fits(size_t bytes) const { return bytes_ == rounded(bytes); }
  /// `bytes` rounded up to whole pages.
  static size_t rounded(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

 private:
  static constexpr size_t kPage = 4096;

  const MpiLibrary& mpi_;
  MpiHandle window_ = 0;
  size_t bytes_;
  std::vector<std::byte*> parts_;
};

/// Whether this machine has room for `bytes` of shared memory per rank. If its file system is full, the first write to
/// a page would raise a signal instead of an error.
bool has_shared_memory(size_t bytes, int ranks);

}  // namespace weft::distributed
