// Reductions over one or several axes; an empty list of axes (`{}`) means all axes. With `keepdim`, the result keeps
// the reduced axes with size 1. Sums are pairwise and give the same bits at any thread count. A 0-d tensor accepts
// axis 0 and axis -1, which change nothing. IndexError for an axis that is out of range or given twice.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// The sum, or the product. Bool and integers give i64. Over no elements the sum is 0 and the product is 1.
Tensor sum(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor prod(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The same after x is cast to `dtype`, for example for sums of bool in i32 or means of integers.
Tensor sum(const Tensor& x, const Axes& axes, KeepDim keep, DType dtype);
Tensor prod(const Tensor& x, const Axes& axes, KeepDim keep, DType dtype);
Tensor mean(const Tensor& x, const Axes& axes, KeepDim keep, DType dtype);
/// The sum over the axes that expand() from `shape` to x's shape adds or enlarges; x itself if there are none.
/// ShapeError unless `shape` expands to x's shape.
Tensor sum_to_size(const Tensor& x, const Shape& shape);
/// The mean. bf16 and f16 are computed in f32. DtypeError for integers (cast first).
Tensor mean(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The largest, or the smallest element. NaN propagates. Elements that tie share the gradient evenly. Error if there
/// are no elements.
Tensor max(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor min(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The variance sum((x - mean)^2) / (n - correction), or its square root. If n <= correction it is infinite, or NaN if
/// all values are equal. Each block of elements is shifted by a value near its mean, and blocks are merged by Chan's
/// formula, so that a large mean does not cause cancellation. DtypeError unless floating, also for norm().
/// A bool is not accepted as a correction: `var(x, 0, true)` does not compile.
Tensor var(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
Tensor stddev(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
inline Tensor var(const Tensor& x, const Axes& axes, KeepDim keep) { return var(x, axes, 1, keep); }
inline Tensor stddev(const Tensor& x, const Axes& axes, KeepDim keep) { return stddev(x, axes, 1, keep); }
template <std::same_as<bool> T> Tensor var(const Tensor&, const Axes&, T, KeepDim = {}) = delete;
template <std::same_as<bool> T> Tensor stddev(const Tensor&, const Axes&, T, KeepDim = {}) = delete;
/// (sum |x|^p)^(1/p); p may be infinity. For p = 2 intermediate results neither overflow nor underflow. The gradient is
/// 0 where the norm is 0.
Tensor norm(const Tensor& x, double p = 2, const Axes& axes = {}, KeepDim keep = {});
/// Whether all elements, or any of them, are non-zero (bool).
Tensor all(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor any(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// log(sum(e^x)) without overflow. It is -infinity if there are no elements or all are -infinity. Integers give f32.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});

}  // namespace weft
