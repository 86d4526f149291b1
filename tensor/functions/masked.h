// Functions of a tensor and a bool mask. The mask broadcasts with the tensor.
#pragma once

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// `value` where the mask is true, else `x`; x and mask broadcast. The result has x's dtype. For an integer dtype the
/// value is truncated; Error if it is out of range.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Scalar& value);
Tensor masked_fill(Tensor&& x, const Tensor& mask, const Scalar& value);
/// The same with a 0-d tensor as the value; its gradient is the sum of the gradients of all filled elements. DtypeError
/// for a floating value if x is an integer tensor.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value);
/// The elements of `x` where the mask is true, in row-major order (1-D); x and mask broadcast.
Tensor masked_select(const Tensor& x, const Tensor& mask);
/// A copy of `x` in which the elements where the mask (broadcast to x) is true are replaced by the elements of `src`,
/// in row-major order. ShapeError if `src` has too few elements, DtypeError if src is floating and x is an integer
/// tensor.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& src);
/// Keeps the elements of `x` on and below (tril) or on and above (triu) a diagonal of the last two axes; the others
/// become 0. `diagonal` = 0 is the main diagonal, > 0 lies above it. ShapeError if x has fewer than two axes.
Tensor tril(const Tensor& x, int64_t diagonal = 0);
Tensor triu(const Tensor& x, int64_t diagonal = 0);

}  // namespace weft
