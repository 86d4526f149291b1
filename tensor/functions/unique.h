// The distinct values of a tensor.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

struct UniqueOptions {
  bool sorted = true;                          // for compatibility: values are always in ascending order
  bool inverse = false;                        // also return the index of each element's value
  bool counts = false;                         // also return how often each value occurs
  std::optional<int64_t> axis = std::nullopt;  // compare the slices along this axis instead of elements
};
struct UniqueResult {
  Tensor values;   // x's dtype; 1-D, or with an axis: x's shape except for the size of that axis
  Tensor inverse;  // i64, values[inverse] is x; x's shape, or with an axis: 1-D; undefined if not requested
  Tensor counts;   // 1-D, i64; undefined if not requested
};
/// The distinct values of x in ascending order, or the distinct slices along an axis in lexicographic order. Every NaN
/// is a distinct value. The gradient of a value goes to its first occurrence. IndexError if the axis is out of range.
UniqueResult unique(const Tensor& x, const UniqueOptions& options = {});
/// One value for each run of equal consecutive elements in row-major order (or of equal slices), in the order of x.
UniqueResult unique_consecutive(const Tensor& x, const UniqueOptions& options = {});

}  // namespace weft
