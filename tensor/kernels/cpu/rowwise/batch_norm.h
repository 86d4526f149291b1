// Batch normalisation of x (N, C) or (N, C, ...): per channel (axis 1) over all other axes, in any memory order.
//
// Per-channel operands (weight, bias, mean, rstd, ...) have shape (C) and any floating dtype; x, y and gradients share one.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// mean[c] and rstd[c] = 1 / sqrt(biased variance + eps) over all axes of x but 1, in double.
void batch_statistics(const Operand& x, double eps, double* mean, double* rstd);

/// What happens to y on its way to memory.
enum class Activation { none, relu };

/// y = (x - mean) * rstd * weight + bias with the batch's own mean and rstd = 1 / sqrt(biased variance + eps), which are
/// written too. weight and bias may be null (1 and 0).
void batch_norm(const Operand& x, const Operand* weight, const Operand* bias, double eps, Activation activation,
                const Operand& y, const Operand& mean, const Operand& rstd);

/// The same with given statistics.
void batch_norm_inference(const Operand& x, const Operand& mean, const Operand& variance, const Operand* weight,
                          const Operand* bias, double eps, const Operand& y);

/// Where mean and rstd come from: they depend on x in training, and are constants in inference.
enum class Statistics { of_batch, given };

/// The gradients of x, weight and bias; those that are null are not computed. With relu, g counts where y, computed again
/// from x, is not below or at 0: the bias is read then only.
void batch_norm_backward(const Operand& g, const Operand& x, const Operand* weight, const Operand* bias,
                         const Operand& mean, const Operand& rstd, Activation activation, Statistics statistics,
                         const Operand* dx, const Operand* dweight, const Operand* dbias);

}  // namespace weft::kernels::cpu
