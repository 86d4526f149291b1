// Poison: tells AddressSanitizer which cached memory must not be touched. Nothing in other builds.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ASAN 1
#endif
#endif

#ifdef WEFT_ASAN
#include <sanitizer/asan_interface.h>
#define WEFT_READS_POISON __attribute__((no_sanitize("address"), noinline)) inline
#else
#define WEFT_READS_POISON inline
#endif

namespace weft::detail {

#ifdef WEFT_ASAN
/// Bytes behind every block that stay poisoned, so that running past its end is caught as well.
inline constexpr size_t kRedZone = 64;
inline void poison(void* memory, size_t bytes) noexcept { ASAN_POISON_MEMORY_REGION(memory, bytes); }
inline void unpoison(void* memory, size_t bytes) noexcept { ASAN_UNPOISON_MEMORY_REGION(memory, bytes); }
#else
inline constexpr size_t kRedZone = 0;
inline void poison(void*, size_t) noexcept {}
inline void unpoison(void*, size_t) noexcept {}
#endif

/// A free block's first words link it to others; they are read and written although the block is poisoned.
struct FreeBlock {
  FreeBlock* next;        // within a chain
  FreeBlock* next_chain;  // of a chain's first block: the central pool's next chain
  uint64_t count;         // of a chain's first block: the blocks in it
};
WEFT_READS_POISON FreeBlock* next_of(const FreeBlock* block) noexcept { return block->next; }
WEFT_READS_POISON void set_next(FreeBlock* block, FreeBlock* next) noexcept { block->next = next; }
WEFT_READS_POISON FreeBlock* next_chain_of(const FreeBlock* block) noexcept { return block->next_chain; }
WEFT_READS_POISON uint64_t chain_count(const FreeBlock* block) noexcept { return block->count; }
WEFT_READS_POISON void set_chain(FreeBlock* block, FreeBlock* next_chain, uint64_t count) noexcept {
  block->next_chain = next_chain;
  block->count = count;
}

}  // namespace weft::detail
