// 2-D convolution: forward, gradient of its input, gradient of its weight.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// Height and width of each.
struct ConvParams {
  int64_t stride[2] = {1, 1};
  int64_t padding[2] = {0, 0};
  int64_t dilation[2] = {1, 1};
  int64_t groups = 1;
};

/// The size of an output axis: floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1; negative or 0 where the
/// window does not fit. Throws ShapeError on overflow.
int64_t conv_output_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation);

/// The strides convolutions and pools work in: channels-last under a logical (N, C, H, W) shape.
Strides channels_last_strides(const Shape& shape);

/// out(n, o, i, j) = bias(o) + sum over c, a, b of weight(o, c, a, b) x(n, g + c, i s - p + a d, j s - p + b d), with zeros
/// outside of x and g the first channel of o's group. x is (N, C, H, W), weight (O, C / groups, kh, kw), bias (O) or null,
/// out (N, O, H', W'), one dtype of f32, f64, bf16, f16 (DtypeError otherwise). Any strides; what is not dense and
/// channels-last is copied. f32 runs in oneDNN; bf16 and f16 in f32, rounded at the end; f64 in weft's loops.
void conv2d(const Operand& x, const Operand& weight, const Operand* bias, const Operand& out, const ConvParams& params);

/// The gradient of x from the gradient of out.
void conv2d_backward_data(const Operand& grad, const Operand& weight, const Operand& grad_x, const ConvParams& params);

/// The gradient of weight from x and the gradient of out. (The bias's is a sum over axes.)
void conv2d_backward_weights(const Operand& x, const Operand& grad, const Operand& grad_weight,
                             const ConvParams& params);

}  // namespace weft::kernels::cpu
