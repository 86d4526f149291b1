// How tensors print.
#pragma once

#include <cstdint>

namespace weft {

/// For the whole process.
struct PrintOptions {
  int precision = 4;         // digits after the point
  int64_t threshold = 1000;  // more elements than this are shortened
  int64_t edge_items = 3;    // kept at each end of a shortened axis
  int line_width = 80;       // a row that is longer breaks
  bool scientific = false;   // else where a magnitude is above 1e8, below 1e-4, or 1000 times that of another
};
void set_print_options(const PrintOptions& options);
PrintOptions print_options();

}  // namespace weft
