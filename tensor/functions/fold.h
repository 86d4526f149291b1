// Windows of images as columns, and columns added back into images. (unfold() is the view along one axis.)
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft {

/// Which windows: as those of a convolution.
struct FoldOptions {
  Size2 kernel_size = 0;
  Size2 dilation = 1;
  Size2 padding = 0;
  Size2 stride = 1;
};

/// x (N, C, H, W) or (C, H, W), any dtype: (N, C kh kw, windows), one column for each window that a convolution of
/// these options sees, row by row; PyTorch's F.unfold. Padding is zeros. ShapeError where the kernel is larger than the
/// padded image; Error for options out of range.
Tensor im2col(const Tensor& x, const FoldOptions& options);
/// The adjoint of im2col: columns (N, C kh kw, windows) or without N, to images (N, C, size) whose pixels are the sums
/// of what the windows say of them. ShapeError where the number of rows or of windows does not fit.
Tensor fold(const Tensor& columns, const Size2& size, const FoldOptions& options);

}  // namespace weft
