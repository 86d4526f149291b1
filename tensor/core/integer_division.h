// Integer division that rounds down or up, where C++'s rounds towards 0.
#pragma once

#include <cstdint>

namespace weft::internal {

/// a / b rounded down, also of negative a, for b > 0.
inline int64_t divide_down(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
/// a / b rounded up, also of negative a, for b > 0.
inline int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace weft::internal
