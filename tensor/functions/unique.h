// Sets: the different values of a tensor.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

struct UniqueOptions {
  bool sorted = true;                          // values ascend, whatever is asked for
  bool inverse = false;                        // also where each element's value is
  bool counts = false;                         // also how often each value occurs
  std::optional<int64_t> axis = std::nullopt;  // slices of this axis are compared in place of elements
};
struct UniqueResult {
  Tensor values;   // 1-D, x's dtype; with an axis of x's shape but for the size of that axis
  Tensor inverse;  // x's shape, or with an axis 1-D of its size, i64: values[inverse] is x; undefined unless asked for
  Tensor counts;   // 1-D, i64; undefined unless asked for
};
/// The different values of all elements, ascending; the different slices along an axis, ascending by their first
/// element, then by the second and so on (as many sorts as a slice has elements). Each NaN is a value of its own. The
/// gradient of a value goes to its first element. IndexError where x has no such axis.
UniqueResult unique(const Tensor& x, const UniqueOptions& options = {});
/// The same of runs of equal elements in row-major order, or of equal slices, in that order.
UniqueResult unique_consecutive(const Tensor& x, const UniqueOptions& options = {});

}  // namespace weft
