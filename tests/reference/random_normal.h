// Normal random numbers of a stream, one by one.
#pragma once

#include <array>

#include "tensor/core/random_normal.h"

namespace weft::testing::reference {

/// The standard normal numbers of a block. The largest possible magnitude is 6.8 in f32.
inline std::array<float, 4> normal_block(RandomKey key, uint64_t index) {
  const auto bits = random_block(key, index);
  // All 32 bits go into the radius, so that the tail reaches 6.8; the half keeps the logarithm's argument above 0.
  const auto a = box_muller((static_cast<float>(bits[0]) + 0.5f) * 0x1p-32f, to_uniform(bits[1]));
  const auto b = box_muller((static_cast<float>(bits[2]) + 0.5f) * 0x1p-32f, to_uniform(bits[3]));
  return {a[0], a[1], b[0], b[1]};
}

/// Element `i` of a stream as a standard normal number.
template <class T> T normal_element(RandomKey key, uint64_t i) {
  if constexpr (sizeof(T) == 8)
    return normal_block_f64(key, i / 2)[i % 2];
  else
    return normal_block(key, i / 4)[i % 4];
}

}  // namespace weft::testing::reference
