// Reductions over none, one or several axes (`{}`: all), the axes kept at size 1 with `keepdim`. Sums are blocked
// pairwise and give the same bits at any thread count. A tensor without axes takes axis 0 and -1, which change nothing.
// IndexError for an axis that is out of range or given twice.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// Bool and integers are summed and multiplied in i64. The sum of nothing is 0, the product 1.
Tensor sum(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor prod(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// x is cast to `dtype` first: sums of bool in i32, means of integers.
Tensor sum(const Tensor& x, const Axes& axes, KeepDim keep, DType dtype);
Tensor prod(const Tensor& x, const Axes& axes, KeepDim keep, DType dtype);
Tensor mean(const Tensor& x, const Axes& axes, KeepDim keep, DType dtype);
/// bf16 and f16 are summed and divided in f32. DtypeError for integers: cast first.
Tensor mean(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The largest / smallest; NaN propagates; ties share the gradient evenly. Error over nothing.
Tensor max(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor min(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// sum((x - mean)^2) / (n - correction), NaN where n = correction. Deviations are taken per block from a value near its
/// mean, and blocks merged by Chan's formula, so that large means do not cancel.
/// DtypeError unless floating, as for norm.
Tensor var(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
Tensor stddev(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
/// (sum |x|^p)^(1/p); p may be infinity. Neither overflows nor underflows for p = 2. Gradient 0 at 0.
Tensor norm(const Tensor& x, double p = 2, const Axes& axes = {}, KeepDim keep = {});
/// Whether all / any are non-zero (bool).
Tensor all(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor any(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// log(sum(e^x)), stable; -inf over nothing and over -inf. Integers become f32.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});

}  // namespace weft
