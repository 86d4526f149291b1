// Large blocks: cut from arenas that are mapped from the system, kept when freed, handed out again to requests of the
// same size class, or merged with free neighbors and cut anew.
#pragma once

#include <cstdint>

namespace weft::detail {

/// A block of class_bytes(size_class). Null where the system has none.
void* take_large(int size_class) noexcept;
void keep_large(int size_class, void* block) noexcept;
/// Gives the memory of everything that is cached back to the system, and unmaps arenas without a block in use.
void release_large_blocks() noexcept;
/// No other thread is inside of the pool between these, for fork().
void lock_large_blocks() noexcept;
void unlock_large_blocks() noexcept;

/// Counts since the start of the process and what there is now.
struct LargeFigures {
  int64_t live_bytes = 0;
  int64_t live_blocks = 0;
  int64_t cached_bytes = 0;
  int64_t allocations = 0;
  int64_t cache_hits = 0;
};
LargeFigures large_figures() noexcept;

}  // namespace weft::detail
