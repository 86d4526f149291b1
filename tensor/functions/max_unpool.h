// The partial inverse of max pooling.
#pragma once

#include <concepts>
#include <initializer_list>

#include "tensor/core/pool_options.h"
#include "tensor/tensor.h"

namespace weft {

/// Writes the values of x, (N, C, ...) or (C, ...), into a tensor of zeros at the positions `indices`, which has x's
/// shape and which, for example, max_pool2d_with_indices returns. Values that share a position are averaged. The
/// spatial sizes of the result are `size` if given, else (x's size - 1) stride - 2 padding + kernel. Error if a
/// dilation is given; ShapeError for a size that pooling with these options would not reduce to x's; IndexError for an
/// index out of range; DtypeError unless x is floating. Numbers in braces, which would be the first options, do not
/// compile: write {.kernel_size = {2, 1}}.
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, const Pool1dOptions& options, const Shape& size = {});
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const Pool2dOptions& options, const Shape& size = {});
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const Pool3dOptions& options, const Shape& size = {});
template <std::integral T>
Tensor max_unpool1d(const Tensor&, const Tensor&, std::initializer_list<T> numbers, const Shape& = {}) = delete;
template <std::integral T>
Tensor max_unpool2d(const Tensor&, const Tensor&, std::initializer_list<T> numbers, const Shape& = {}) = delete;
template <std::integral T>
Tensor max_unpool3d(const Tensor&, const Tensor&, std::initializer_list<T> numbers, const Shape& = {}) = delete;

}  // namespace weft
