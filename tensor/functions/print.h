// How tensors print.
#pragma once

#include <cstdint>

namespace weft {

/// How tensors are printed. Applies to the whole process. set_print_options() throws an Error unless precision is in
/// [0, 60], threshold 0 or more, and edge_items and line_width 1 or more.
struct PrintOptions {
  int precision = 4;         // digits after the point
  int64_t threshold = 1000;  // a tensor with more elements is abbreviated
  int64_t edge_items = 3;    // items shown at each end of an abbreviated axis
  int line_width = 80;       // longer rows are broken
  bool scientific = false;   // false: only if a magnitude is above 1e8, below 1e-4, or 1000 times another one
};
void set_print_options(const PrintOptions& options);
PrintOptions print_options();

}  // namespace weft
