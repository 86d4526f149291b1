// Gradients of writes by index: where several values were written to one place, the last gets it.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// `g` with zeros in the slices of `axes` axes from `axis` on that the 1-d `index` names.
Tensor index_clear(const Tensor& g, int64_t axis, int64_t axes, const Tensor& index, bool unique);
/// The slices of `g` that were written; zero for those that a later one wrote over.
Tensor index_written(const Tensor& g, int64_t axis, int64_t axes, const Tensor& index, bool unique);
/// The same for scatter: elements of `g` that were written along `axis`.
Tensor scatter_written(const Tensor& g, int64_t axis, const Tensor& index);

}  // namespace weft::adjoint
