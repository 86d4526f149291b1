// Statistics composed of other reductions. Axes, keepdim and errors are as in reduce.h.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// The same as max() and min(), under PyTorch's names for several axes.
Tensor amax(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor amin(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
struct MinAndMax {
  Tensor min, max;
};
MinAndMax aminmax(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The sum and the mean of the elements that are not NaN. If all are NaN, the sum is 0 and the mean is NaN. nanmean
/// takes floating dtypes.
Tensor nansum(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor nanmean(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The number of elements that are not 0 (i64). NaN is counted.
Tensor count_nonzero(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The variance (or the standard deviation) and the mean.
struct VarMean {
  Tensor var, mean;
};
struct StdMean {
  Tensor stddev, mean;
};
VarMean var_mean(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
StdMean std_mean(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
template <std::same_as<bool> T> VarMean var_mean(const Tensor&, const Axes&, T, KeepDim = {}) = delete;
template <std::same_as<bool> T> StdMean std_mean(const Tensor&, const Axes&, T, KeepDim = {}) = delete;
inline VarMean var_mean(const Tensor& x, const Axes& axes, KeepDim keep) { return var_mean(x, axes, 1, keep); }
inline StdMean std_mean(const Tensor& x, const Axes& axes, KeepDim keep) { return std_mean(x, axes, 1, keep); }
/// The covariance matrix (v, v) of v variables, given as the rows of x (v, n): the sum of (a - mean a)(b - mean b),
/// divided by n - correction. A single variable, (n) or (1, n), gives a 0-d tensor. Integers give f32. ShapeError for
/// more than two axes.
Tensor cov(const Tensor& x, int64_t correction = 1);
/// Pearson's correlation coefficients of the rows of x, in [-1, 1]; NaN for a constant row.
Tensor corrcoef(const Tensor& x);
/// The p-norm of a - b over all elements, a 0-d tensor; a and b broadcast.
Tensor dist(const Tensor& a, const Tensor& b, double p = 2);
/// The distance (p-norm of the difference) of each row of a (..., m, d) from each row of b (..., n, d): (..., m, n).
/// Leading axes broadcast. Integers give f32. ShapeError for fewer than two axes and for rows of unequal length, Error
/// if p < 0.
Tensor cdist(const Tensor& a, const Tensor& b, double p = 2);
/// The distances of all pairs i < j of rows of x (n, d): (n (n - 1) / 2), in the order (0, 1), (0, 2), ..., (1, 2), ...
/// ShapeError unless x is a matrix.
Tensor pdist(const Tensor& x, double p = 2);

}  // namespace weft
