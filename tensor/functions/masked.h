// Elements where a bool mask holds, in row-major order. The mask broadcasts with the tensor.
#pragma once

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// `value` where the mask holds, else `x`; both broadcast. x's dtype: an integer dtype truncates
/// the value; Error where it is out of its range.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Scalar& value);
/// The same with a tensor without axes, which gets the sum of the gradients. DtypeError for a floating one beside
/// integers.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value);
/// The elements of `x` where the mask holds, in a row; both broadcast.
Tensor masked_select(const Tensor& x, const Tensor& mask);
/// `x`, with the elements of `src` (in row-major order) one after the other where the mask, broadcast to x, holds.
/// ShapeError where `src` has too few, DtypeError where it is floating and x of integers.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& src);
/// `x` on and below (tril), or on and above (triu), a diagonal of its last two axes, and zero elsewhere. `diagonal` >
/// 0 lies above the main one. ShapeError below two axes.
Tensor tril(const Tensor& x, int64_t diagonal = 0);
Tensor triu(const Tensor& x, int64_t diagonal = 0);

}  // namespace weft
