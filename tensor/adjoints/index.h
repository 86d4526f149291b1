// Gradients of indexing that are no public function; called by rules, and by functions that count or invert an order.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradient of embedding's weight, which has `rows` rows; row `padding_idx` gets none.
Tensor embedding_backward(const Tensor& g, const Tensor& indices, int64_t rows, int64_t padding_idx);

/// zeros of `shape`, with src[i][j] added at [index[i][j]][j] for axis 0, and so on: the adjoint of gather. The same
/// bits at any thread count. DtypeError for bool.
Tensor scatter_add(const Tensor& src, int64_t axis, const Tensor& index, const Shape& shape);
/// zeros of `shape`, with the slices of `src` added at the places `index` names: the adjoint of index_select.
/// DtypeError for bool.
Tensor index_add(const Tensor& src, int64_t axis, const Tensor& index, const Shape& shape);

/// `src` in the dtype of the tensor that it is written or added to. DtypeError where a floating source would lose its
/// fractions beside integers, Error for an integer that the dtype does not hold.
Tensor source_of(const Tensor& src, DType dtype);

}  // namespace weft::adjoint

namespace weft::internal {

/// index_select() without history, written to `into`, which has the shape and dtype of the result, and any strides.
void index_select_into(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& into);

}  // namespace weft::internal
