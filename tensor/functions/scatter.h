// Writes along an axis. For axis 0 of a matrix: out[index[i][j]][j] = src[i][j]; other axes and ranks likewise. `index`
// has x's rank. Its sizes are at most those of src and, on the axes other than `axis`, at most those of x. Elements
// written to the same position are combined in the order of i, so that the bits do not depend on the thread count. src
// is cast to x's dtype. If x is an integer tensor: DtypeError for a floating src, Error for an integer that x's dtype
// cannot hold.
#pragma once

#include <concepts>
#include <string_view>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// A copy of `x` with the elements of `src`, or `value`, written to the positions `index`. If a position occurs several
/// times, the last write is kept.
Tensor scatter(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src);
Tensor scatter(const Tensor& x, int64_t axis, const Tensor& index, const Scalar& value);
/// A copy of `x` in which the elements of `src` written to the same position are reduced by "sum", "prod", "mean",
/// "amax" or "amin" (elements that tie share the gradient evenly; where the result is NaN, so are their gradients).
/// With `include_self`, the old value of x takes part in the reduction. Positions that do not occur in `index` keep
/// their value. DtypeError for bool, and for a mean of integers.
Tensor scatter_reduce(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
                      bool include_self = true);
/// scatter_reduce() for whole slices: slice i of `src` along `axis` is reduced into slice index[i] of `x`.
Tensor index_reduce(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
                    bool include_self = true);
namespace detail {
Tensor scatter_add_to(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src);
}
/// A copy of `x` with the elements of `src` added at the positions `index`. DtypeError for bool.
template <std::same_as<Tensor> T> Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& index, const T& src) {
  return detail::scatter_add_to(x, axis, index, src);
}

}  // namespace weft
