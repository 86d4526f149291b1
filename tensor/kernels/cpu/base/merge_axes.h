// Axes that lie as one in the memory of several operands.
#pragma once

#include <cstdint>

namespace weft::kernels::cpu {

/// Whether an outer axis goes on where an inner axis of `size` elements ends, in each of `count` operands: then a loop
/// over both is a loop over one. `outer` and `inner` are the axes' steps, one per operand.
inline bool merges(const int64_t* outer, const int64_t* inner, int64_t size, int count) {
  for (int k = 0; k < count; ++k)
    if (outer[k] != inner[k] * size) return false;
  return true;
}

}  // namespace weft::kernels::cpu
