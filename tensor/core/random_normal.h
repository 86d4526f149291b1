// Counter-based normal random numbers from the streams of random.h. A separate header, because <cmath> is slow to
// compile.
#pragma once

#include <cmath>

#include "tensor/core/random.h"

namespace weft {

/// Two independent standard normal numbers from u in (0, 1] and v in [0, 1): G. E. P. Box and M. E. Muller, 1958.
template <class T> std::array<T, 2> box_muller(T u, T v) {
  const T radius = std::sqrt(T(-2) * std::log(u));
  const T angle = T(6.283185307179586476925286766559) * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// The standard normal numbers of a block. The largest possible magnitude is 6.8 in f32 and 8.7 in f64.
inline std::array<float, 4> normal_block(RandomKey key, uint64_t index) {
  const auto bits = random_block(key, index);
  // All 32 bits go into the radius, so that the tail reaches 6.8; the half keeps the logarithm's argument above 0.
  const auto a = box_muller((static_cast<float>(bits[0]) + 0.5f) * 0x1p-32f, to_uniform(bits[1]));
  const auto b = box_muller((static_cast<float>(bits[2]) + 0.5f) * 0x1p-32f, to_uniform(bits[3]));
  return {a[0], a[1], b[0], b[1]};
}
inline std::array<double, 2> normal_block_f64(RandomKey key, uint64_t index) {
  const auto bits = random_block(key, index);
  return box_muller(to_uniform(bits[0], bits[1]) + 0x1p-54, to_uniform(bits[2], bits[3]));
}

/// Element `i` of a stream as a standard normal number.
template <class T> T normal_element(RandomKey key, uint64_t i) {
  if constexpr (sizeof(T) == 8)
    return normal_block_f64(key, i / 2)[i % 2];
  else
    return normal_block(key, i / 4)[i % 4];
}

}  // namespace weft
