// Activations and their fused gradients, element-wise. All operands have one shape and one floating dtype.
#pragma once

#include "tensor/kernels/cpu/operand.h"

namespace weft::kernels::cpu {

/// 1 / (1 + exp(-x))
void sigmoid(const Operand& x, const Operand& out);
/// x where x > 0, slope * x elsewhere.
void leaky_relu(const Operand& x, double slope, const Operand& out);
/// x * sigmoid(x)
void silu(const Operand& x, const Operand& out);
/// log(1 + exp(x))
void softplus(const Operand& x, const Operand& out);

/// The exact GELU, x * Phi(x), or its approximation by tanh (Hendrycks and Gimpel 2016).
enum class GeluForm { erf, tanh };
void gelu(const Operand& x, GeluForm form, const Operand& out);

// Gradients: `g` flows into the activation's result.
/// g where y > 0, else 0; y is relu's result (or its input). A NaN in y lets g pass.
void relu_backward(const Operand& g, const Operand& y, const Operand& out);
/// g where x > 0, slope * g elsewhere.
void leaky_relu_backward(const Operand& g, const Operand& x, double slope, const Operand& out);
/// g * y * (1 - y), y = sigmoid(x)
void sigmoid_backward(const Operand& g, const Operand& y, const Operand& out);
/// g * (1 - y * y), y = tanh(x)
void tanh_backward(const Operand& g, const Operand& y, const Operand& out);
/// g * s * (1 + x * (1 - s)), s = sigmoid(x)
void silu_backward(const Operand& g, const Operand& x, const Operand& out);
/// g times the derivative of gelu at x.
void gelu_backward(const Operand& g, const Operand& x, GeluForm form, const Operand& out);

}  // namespace weft::kernels::cpu
