// Naive normalization: layer, batch and group normalization differ in which elements are normalized together.
#pragma once

#include "tests/reference/array.h"

namespace weft::testing::reference {

/// What elements with the same `group` are normalized together, and where the weight and the bias of one are.
struct NormAxes {
  std::function<Index(const Index&)> group, parameter;
  Shape parameters;
};
/// Over the last axes (layer normalization).
NormAxes last_axes(const Shape& shape, int64_t axes);
/// Each channel (batch normalization).
NormAxes each_channel(const Shape& shape);
/// `size` channels of one sample (group normalization).
NormAxes channel_groups(const Shape& shape, int64_t size);

/// Of each group, in the order of their indices.
struct Moments {
  Row mean, rstd;
};
Moments moments(const Array& x, const NormAxes& axes, double eps);
/// (x - mean) rstd weight + bias; weight and bias may be absent.
Array normalized(const Array& x, const Array& weight, const Array& bias, const NormAxes& axes, double eps);
/// The same with mean and variance of each channel given.
Array normalized_with(const Array& x, const Array& mean, const Array& variance, const Array& weight, const Array& bias,
                      double eps);
/// {dx, dweight, dbias}: g times the Jacobian of the definition,
/// dy_j / dx_i = weight_j rstd ((i == j) - 1 / n - unit_i unit_j / n), summed over all pairs.
Arrays normalized_gradient(const Array& g, const Array& x, const Array& weight, const NormAxes& axes, double eps);

}  // namespace weft::testing::reference
