// The caching allocator: memory that was used once stays at hand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// What the allocator holds, in bytes; `live` counts what tensors hold now (rounded up to block sizes).
struct MemoryStats {
  int64_t live_bytes = 0;
  int64_t live_blocks = 0;
  int64_t peak_bytes = 0;
  int64_t cached_bytes = 0;
  int64_t allocations = 0;
  int64_t cache_hits = 0;
};

/// The figures of the whole process (all threads).
MemoryStats memory_stats();
/// Starts `peak_bytes` anew from what is live.
void reset_peak_memory();
/// Gives cached memory back to the system.
void empty_cache();

namespace detail {
/// 64-byte aligned memory for tensor data, counted in memory_stats(). Throws Error where the system has none.
void* allocate_block(size_t bytes);
void free_block(void* block, size_t bytes) noexcept;
/// Small objects (tensor bodies, graph nodes): thread-local free lists, at most 1024 bytes, else operator new.
/// Not counted in live_bytes; `live_objects` counts them.
void* allocate_object(size_t bytes);
void free_object(void* object, size_t bytes) noexcept;
int64_t live_objects();
}  // namespace detail

}  // namespace weft
