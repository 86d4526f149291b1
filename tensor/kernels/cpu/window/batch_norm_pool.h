// Batch normalisation, relu and max-pooling in one pass over memory: what comes between two convolutions of a network for
// images. Windows tile the image and channels are neighbours in memory; everything else takes the three ops one by one.
//
// x is (N, C, H, W), y and places (u8) are (N, C, H / kh, W / kw). Per-channel operands have shape (C). f32 and f64.
#pragma once

#include "tensor/kernels/cpu/window/pool.h"

namespace weft::kernels::cpu {

/// Whether the kernels below take x (by its layout and dtype) with these windows.
bool batch_norm_pool_applies(const Operand& x, const PoolParams& p);

/// y = max over each window of relu((x - mean) * rstd * weight + bias), with the batch's own statistics, which are written
/// too; NaN propagates. `places` gets the first largest element of each window, 255 where relu let none through.
void batch_norm_relu_max_pool2d(const Operand& x, const Operand* weight, const Operand* bias, double eps,
                                const PoolParams& p, const Operand& y, const Operand& mean, const Operand& rstd,
                                const Operand& places);

/// The gradients of x, weight and bias from that of y.
void batch_norm_relu_max_pool2d_backward(const Operand& g, const Operand& places, const Operand& x,
                                         const Operand* weight, const Operand& mean, const Operand& rstd,
                                         const PoolParams& p, const Operand& dx, const Operand& dweight,
                                         const Operand& dbias);

}  // namespace weft::kernels::cpu
