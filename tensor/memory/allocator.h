// The caching allocator: freed memory is kept for reuse.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// What the allocator holds; bytes are those of blocks, which are up to an eighth larger than what was asked for.
struct MemoryStats {
  int64_t live_bytes = 0;    ///< in use by tensors now
  int64_t live_blocks = 0;   ///< the number of these blocks
  int64_t peak_bytes = 0;    ///< the most that was live at once, exact to 64 KiB per thread
  int64_t cached_bytes = 0;  ///< freed and kept for reuse
  int64_t allocations = 0;   ///< since the process began
  int64_t cache_hits = 0;    ///< allocations that neither the system nor, for small ones, the central pool had to serve
};

/// The figures of the whole process (all threads).
MemoryStats memory_stats();
/// Starts `peak_bytes` anew from what is live.
void reset_peak_memory();
/// Gives cached memory back to the system, except for what other threads keep in their lists (a few MiB each at most).
void empty_cache();

namespace detail {
/// 64-byte aligned memory for tensor data, counted in memory_stats(). MemoryError where the system has none.
void* allocate_block(size_t bytes);
void free_block(void* block, size_t bytes) noexcept;
/// Small objects (tensor bodies, graph nodes) from the same lists, at most 64 KiB (Error above). Not counted in
/// live_bytes and allocations; `live_objects` counts them.
void* allocate_object(size_t bytes);
void free_object(void* object, size_t bytes) noexcept;
int64_t live_objects();
}  // namespace detail

}  // namespace weft
