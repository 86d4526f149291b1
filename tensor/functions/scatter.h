// Writes along an axis: out[index[i][j]][j] = src[i][j] for axis 0, and so on. `index` has x's rank, sizes up to src's
// and, off the axis, up to x's. Elements that meet are combined in the order of i, so that the bits do not depend on
// threads. src is cast to x's dtype; where that is of integers, DtypeError for a floating src, Error for an integer
// that it does not hold.
#pragma once

#include <concepts>
#include <string_view>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// `x`, with the elements of `src`, or `value`, at the positions that `index` names; of several the last.
Tensor scatter(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src);
Tensor scatter(const Tensor& x, int64_t axis, const Tensor& index, const Scalar& value);
/// `x`, with what is written to one position reduced: "sum", "prod", "mean", "amax" or "amin" (ties share the gradient
/// evenly), the old value among them with `include_self`. Positions that `index` does not name keep their value.
/// DtypeError for bool, and for a mean of integers.
Tensor scatter_reduce(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
                      bool include_self = true);
/// scatter_reduce of slices: slice i of `src` meets slice index[i] of `x` along `axis`.
Tensor index_reduce(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
                    bool include_self = true);
namespace detail {
Tensor scatter_add_to(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src);
}
/// `x`, with the elements of `src` added at the positions that `index` names. DtypeError for bool.
template <std::same_as<Tensor> T> Tensor scatter_add(const Tensor& x, int64_t axis, const Tensor& index, const T& src) {
  return detail::scatter_add_to(x, axis, index, src);
}

}  // namespace weft
