// Layer normalisation over the last axes, and its gradient.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// y = (x - mean) * rstd * weight + bias over the last `axes` axes, rstd = 1 / sqrt(biased variance + eps), two-pass.
/// weight and bias (null: 1 and 0) have the shape of those axes; mean and rstd x's shape with size 1 there (any floating
/// dtype, may be null).
void layer_norm(const Operand& x, int64_t axes, const Operand* weight, const Operand* bias, double eps,
                const Operand& y, const Operand* mean, const Operand* rstd);

/// The gradients of x, weight and bias; those that are null are not computed. weight may be null (1).
void layer_norm_backward(const Operand& g, const Operand& x, int64_t axes, const Operand* weight, const Operand& mean,
                         const Operand& rstd, const Operand* dx, const Operand* dweight, const Operand* dbias);

}  // namespace weft::kernels::cpu
