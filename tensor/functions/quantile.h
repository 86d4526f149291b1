// Quantiles along an axis or of all elements.
#pragma once

#include <concepts>
#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// The value of a quantile that falls between two elements: linear interpolation, the lower, the higher, the nearer one
/// (if both are equally near: the one of even rank), or the midpoint.
enum class QuantileMode { linear, lower, higher, nearest, midpoint };
struct QuantileOptions {
  std::optional<int64_t> axis = std::nullopt;  // default: all elements
  bool keepdim = false;
  QuantileMode mode = QuantileMode::linear;
};
/// The element of rank q (n - 1) among the n sorted elements, for q in [0, 1]. The result is NaN if an element is NaN.
/// A 1-D tensor q gives one quantile per element, along a new first axis; it has a gradient where elements are
/// interpolated linearly. x must be floating. Error for a q outside of [0, 1], ShapeError if there are no elements.
Tensor quantile(const Tensor& x, double q, const QuantileOptions& options = {});
Tensor quantile(const Tensor& x, const Tensor& q, const QuantileOptions& options = {});
/// quantile() of the elements that are not NaN; NaN if all are.
Tensor nanquantile(const Tensor& x, double q, const QuantileOptions& options = {});
Tensor nanquantile(const Tensor& x, const Tensor& q, const QuantileOptions& options = {});

/// quantile() and nanquantile() along one axis.
template <class Q, std::integral Axis>
  requires(!NoAxis<Axis>)
Tensor quantile(const Tensor& x, const Q& q, Axis axis, KeepDim keep = {}) {
  return quantile(x, q, {.axis = axis, .keepdim = keep.value});
}
template <class Q, std::integral Axis>
  requires(!NoAxis<Axis>)
Tensor nanquantile(const Tensor& x, const Q& q, Axis axis, KeepDim keep = {}) {
  return nanquantile(x, q, {.axis = axis, .keepdim = keep.value});
}

}  // namespace weft
