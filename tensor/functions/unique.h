// Sets: the different values of a tensor.
#pragma once

#include "tensor/tensor.h"

namespace weft {

struct UniqueOptions {
  bool inverse = false;  // also where each element's value is
  bool counts = false;   // also how often each value occurs
};
struct UniqueResult {
  Tensor values;   // 1-D, x's dtype
  Tensor inverse;  // x's shape, i64: values[inverse] is x; undefined unless asked for
  Tensor counts;   // of values' shape, i64; undefined unless asked for
};
/// The different values of all elements, ascending. Each NaN is a value of its own. The gradient of a value goes to its
/// first element.
UniqueResult unique(const Tensor& x, const UniqueOptions& options = {});
/// The same of runs of equal elements in row-major order, in that order.
UniqueResult unique_consecutive(const Tensor& x, const UniqueOptions& options = {});

}  // namespace weft
