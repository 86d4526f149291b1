// Reductions over none, one or several axes (`{}`: all), the axes kept at size 1 with `keepdim`. Sums are blocked pairwise
// and give the same bits at any thread count.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// Bool and integers are summed and multiplied in i64. The sum of nothing is 0, the product 1.
Tensor sum(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor prod(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// DtypeError for integers: cast first.
Tensor mean(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The largest / smallest; NaN propagates; ties share the gradient evenly. Error over nothing.
Tensor max(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor min(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The extremum along one axis and its first position (i64), which alone gets the gradient.
ValuesAndIndices max_with_indices(const Tensor& x, int64_t axis, KeepDim keep = {});
ValuesAndIndices min_with_indices(const Tensor& x, int64_t axis, KeepDim keep = {});
/// The first position of the extremum (i64) along an axis, or in row-major order of all.
Tensor argmax(const Tensor& x, std::optional<int64_t> axis = std::nullopt, KeepDim keep = {});
Tensor argmin(const Tensor& x, std::optional<int64_t> axis = std::nullopt, KeepDim keep = {});
/// sum((x - mean)^2) / (n - correction), two-pass.
Tensor var(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
Tensor std(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
/// (sum |x|^p)^(1/p); p may be infinity. Neither overflows nor underflows for p = 2. Gradient 0 at 0.
Tensor norm(const Tensor& x, double p = 2, const Axes& axes = {}, KeepDim keep = {});
/// Whether all / any are non-zero (bool).
Tensor all(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor any(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// log(sum(e^x)), stable; -inf over nothing and over -inf.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});

}  // namespace weft
