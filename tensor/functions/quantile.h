// Quantiles along an axis or of all elements.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// How a quantile that falls between two elements is chosen: by a line between them, the lower, the higher, the nearer
/// one (the even rank of two that are equally near), or their middle.
enum class QuantileMode { linear, lower, higher, nearest, midpoint };
struct QuantileOptions {
  std::optional<int64_t> axis = std::nullopt;  // all elements where absent
  bool keepdim = false;
  QuantileMode mode = QuantileMode::linear;
};
/// The element of rank q (n - 1) of the sorted axis, 0 <= q <= 1; NaN where there is one. A tensor of several q (1-D)
/// makes a new first axis. Floating dtypes. Error for a q outside [0, 1], ShapeError over nothing.
Tensor quantile(const Tensor& x, double q, const QuantileOptions& options = {});
Tensor quantile(const Tensor& x, const Tensor& q, const QuantileOptions& options = {});
/// The quantile of what is not NaN; NaN where everything is.
Tensor nanquantile(const Tensor& x, double q, const QuantileOptions& options = {});
Tensor nanquantile(const Tensor& x, const Tensor& q, const QuantileOptions& options = {});

}  // namespace weft
