// 2-D pooling: maxima and means of windows, and their gradients. weft's own loops: oneDNN's lose NaN and -inf.
//
// Tensors are (N, C, H, W), one dtype of f32, f64, bf16, f16 (DtypeError otherwise), any strides. Fast where channels are
// neighbours (channels-last); results have the same bits at any thread count.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// Height and width of each. Dilation is for max_pool2d alone.
struct PoolParams {
  int64_t kernel[2] = {1, 1};
  int64_t stride[2] = {1, 1};
  int64_t padding[2] = {0, 0};
  int64_t dilation[2] = {1, 1};
};

/// The dtype of the places that max_pool2d writes: u8 where it can count the window's elements, else i32.
DType max_pool2d_index_dtype(const PoolParams& params);

/// out = the maximum of each window, padding counting as -inf; a NaN in it is the result. `places` (the shape of out)
/// receives which element of the window it was, a * kernel width + b: the first NaN, else the first maximum; the largest
/// value of its dtype where the whole window is padding. Null where no gradient is wanted.
void max_pool2d(const Operand& x, const Operand& out, const Operand* places, const PoolParams& params);

/// grad_x(pixel) = the sum of grad over the windows whose place is that pixel.
void max_pool2d_backward(const Operand& grad, const Operand& places, const Operand& grad_x, const PoolParams& params);

/// out(window) = x at the window's place; 0 where the window is padding. The gradient of max_pool2d_backward.
void max_pool2d_gather(const Operand& x, const Operand& places, const Operand& out, const PoolParams& params);

/// out = the sum of each window divided by the window's size; padding counts as zeros (PyTorch's count_include_pad).
void avg_pool2d(const Operand& x, const Operand& out, const PoolParams& params);

/// grad_x(pixel) = the sum of grad over the windows that hold it, divided by the window's size.
void avg_pool2d_backward(const Operand& grad, const Operand& grad_x, const PoolParams& params);

}  // namespace weft::kernels::cpu
