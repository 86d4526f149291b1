// Integer division that rounds down or up, where C++'s rounds towards 0.
#pragma once

#include <cstdint>

namespace weft::internal {

/// a / b rounded down, for b > 0.
inline int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
/// a / b rounded up, for b > 0.
inline int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace weft::internal
