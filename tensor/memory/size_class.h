// Size classes: the sizes that the allocator hands out. Multiples of 64 up to 512, then eight steps per power of two,
// so that a block is at most an eighth larger than what was asked for (and what lies beyond it is never touched).
#pragma once

#include <bit>
#include <cstddef>

namespace weft::detail {

/// Blocks up to here come from slabs and per-thread lists; larger ones from arenas (large_blocks.h).
inline constexpr size_t kLargestSmall = 64 * 1024;
inline constexpr int kSmallClasses = 64;
/// Classes up to those of PTRDIFF_MAX bytes.
inline constexpr int kClasses = 440;

constexpr int size_class(size_t bytes) {
  if (bytes <= 512) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) >> 6);
  const size_t last = (bytes - 1) >> 6;                  // the last 64-byte unit, at least 8
  const int octave = std::bit_width(last) - 4;           // 0 for units 8..15, 1 for 16..31, ...
  return 8 * octave + static_cast<int>(last >> octave);  // the upper four bits of `last` count 8..15
}

/// The bytes of a block of class `index`.
constexpr size_t class_bytes(int index) {
  if (index < 8) return static_cast<size_t>(index + 1) << 6;
  const int octave = index / 8 - 1;
  return static_cast<size_t>(index % 8 + 9) << (octave + 6);
}

static_assert(size_class(kLargestSmall) == kSmallClasses - 1 && class_bytes(kSmallClasses - 1) == kLargestSmall);

}  // namespace weft::detail
