// The central pool of small blocks: threads fetch chains of free blocks from it and give chains back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/memory/poison.h"
#include "tensor/memory/size_class.h"

namespace weft::detail {

/// The blocks of a full chain of a class: 16 KiB worth of them, at least 1 and at most 128.
constexpr uint32_t chain_length(int size_class) {
  const size_t fitting = 16 * 1024 / class_bytes(size_class);
  return fitting < 1 ? 1 : fitting > 128 ? 128 : static_cast<uint32_t>(fitting);
}

/// A chain of free blocks (its length in chain_count). Null where the system has no memory left.
FreeBlock* fetch_chain(int size_class) noexcept;
void give_chain(int size_class, FreeBlock* chain) noexcept;
/// Bytes cut from slabs so far: what is in use and what is free, in the pool or on threads.
int64_t small_bytes_held() noexcept;
/// Gives slabs whose blocks are all in the pool back to the system.
void release_free_slabs() noexcept;
/// No other thread is inside of the pool between these, for fork().
void lock_small_blocks() noexcept;
void unlock_small_blocks() noexcept;

}  // namespace weft::detail
