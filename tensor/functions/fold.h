// im2col and its adjoint. PyTorch calls them F.unfold and F.fold; weft's unfold() is the view along one axis.
#pragma once

#include <concepts>
#include <initializer_list>

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft {

/// The windows, defined as for a convolution.
struct FoldOptions {
  Size2 kernel_size = 0;
  Size2 dilation = 1;
  Size2 padding = 0;
  Size2 stride = 1;
};

/// x (N, C, H, W) of any dtype gives (N, C kh kw, windows); N may be absent. Each column holds the elements of one
/// window of a convolution with these options; windows are in row-major order. Padding is zeros. ShapeError if the
/// kernel is larger than the padded image; Error for options out of range.
Tensor im2col(const Tensor& x, const FoldOptions& options);
template <std::integral T>
Tensor im2col(const Tensor& x, std::initializer_list<T> numbers) = delete;  // write {.kernel_size = {3, 1}}
/// The adjoint of im2col: columns (N, C kh kw, windows) give images (N, C, H, W) with (H, W) = size; N may be absent.
/// Each pixel is the sum of its values in all windows that contain it. ShapeError if the number of rows or of windows
/// does not match.
Tensor fold(const Tensor& columns, const Size2& size, const FoldOptions& options);
template <std::integral T>
Tensor fold(const Tensor& columns, const Size2& size, std::initializer_list<T> numbers) = delete;  // as in im2col

}  // namespace weft
