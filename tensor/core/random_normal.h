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

/// The standard normal numbers of a block. The largest possible magnitude is 8.7.
inline std::array<double, 2> normal_block_f64(RandomKey key, uint64_t index) {
  const auto bits = random_block(key, index);
  return box_muller(to_uniform(bits[0], bits[1]) + 0x1p-54, to_uniform(bits[2], bits[3]));
}

}  // namespace weft
