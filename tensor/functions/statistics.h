// Statistics that other reductions make. Axes, keepdim and errors as in reduce.h.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// The largest / smallest over several axes: PyTorch's names of max and min.
Tensor amax(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor amin(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
struct MinAndMax {
  Tensor min, max;
};
MinAndMax aminmax(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// Sum and mean of what is not NaN (0 and NaN where everything is). nanmean: floating dtypes.
Tensor nansum(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor nanmean(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// How many elements are not 0 (i64); NaN is not.
Tensor count_nonzero(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The variance (or its root) and the mean.
struct VarMean {
  Tensor var, mean;
};
struct StdMean {
  Tensor stddev, mean;
};
VarMean var_mean(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
StdMean std_mean(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
/// Covariances (v, v) of the rows of x (v, n), a row per variable: sum of (a - mean)(b - mean) / (n - correction). One
/// variable, 1-D or (1, n), gives a number. Integers become f32. ShapeError for more than two axes.
Tensor cov(const Tensor& x, int64_t correction = 1);
/// Pearson's correlation coefficients of the rows of x, in [-1, 1]; NaN for a constant row.
Tensor corrcoef(const Tensor& x);
/// The p-norm of a - b over all elements, which broadcast: a tensor without axes.
Tensor dist(const Tensor& a, const Tensor& b, double p = 2);
/// The p-norms (..., m, n) of the differences of each row of a (..., m, d) and each of b (..., n, d). Leading axes
/// broadcast; integers give f32. ShapeError below two axes and for rows of unequal length, Error for p < 0.
Tensor cdist(const Tensor& a, const Tensor& b, double p = 2);

}  // namespace weft
