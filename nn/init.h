// Initializers for parameters, as torch.nn.init. Every function writes its tensor in place and records nothing on the
// tape. Random values are drawn from `generator`.
#pragma once

#include "tensor/core/random.h"
#include "tensor/tensor.h"

namespace weft::nn::init {

/// Which fan sets the variance: fan_in (the number of inputs of a unit) or fan_out (the number of units that read an
/// input).
enum class Fan { in, out };

/// The activation function whose effect on the variance gain() compensates.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };

/// The factor that keeps the variance constant through the activation, as torch.nn.init.calculate_gain: linear 1,
/// sigmoid 1, tanh 5/3, relu sqrt(2), leaky_relu sqrt(2 / (1 + slope^2)), selu 3/4.
double gain(Nonlinearity nonlinearity, double slope = 0.01);

/// fan_in or fan_out of a weight (out, in, kernel...): its size `in` or `out` times the number of elements of one
/// kernel. ShapeError if the weight has fewer than two axes.
int64_t fan(const Tensor& weight, Fan which);

struct KaimingOptions {
  double slope = 0;  // the negative slope of the leaky ReLU after the layer
  Fan fan = Fan::in;
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu;
};

/// Uniform in [low, high). DtypeError unless the dtype is floating, Error if low > high.
void uniform(Tensor tensor, double low = 0, double high = 1, Generator& generator = default_generator());
/// Normal with mean `mean` and standard deviation `std`. DtypeError unless the dtype is floating, Error if std < 0.
void normal(Tensor tensor, double mean = 0, double std = 1, Generator& generator = default_generator());
/// Normal values truncated to [low, high]; the bounds are absolute values, not multiples of std. DtypeError
/// unless the dtype is floating, Error unless low < high and std > 0.
void trunc_normal(Tensor tensor, double mean = 0, double std = 1, double low = -2, double high = 2,
                  Generator& generator = default_generator());
/// Sets every element to `value`.
void constant(Tensor tensor, double value);
inline void zeros(const Tensor& tensor) { constant(tensor, 0); }
inline void ones(const Tensor& tensor) { constant(tensor, 1); }
/// Uniform or normal with mean 0 and variance gain^2 * 2 / (fan_in + fan_out): Glorot and Bengio, "Understanding the
/// difficulty of training deep feedforward neural networks", AISTATS 2010.
void xavier_uniform(Tensor tensor, double gain = 1, Generator& generator = default_generator());
void xavier_normal(Tensor tensor, double gain = 1, Generator& generator = default_generator());
/// Uniform or normal with mean 0 and variance gain^2 / fan: He et al., arXiv 1502.01852. The gain is gain(nonlinearity,
/// slope).
void kaiming_uniform(Tensor tensor, const KaimingOptions& options = {}, Generator& generator = default_generator());
void kaiming_normal(Tensor tensor, const KaimingOptions& options = {}, Generator& generator = default_generator());
/// A (semi-)orthogonal matrix scaled by `gain`: the rows are orthogonal with norm `gain`, or the columns if there are
/// fewer columns than rows. All axes after the first are flattened into columns (Saxe et al., arXiv 1312.6120).
/// ShapeError if the tensor has fewer than two axes, DtypeError unless the dtype is floating.
void orthogonal(Tensor tensor, double gain = 1, Generator& generator = default_generator());
/// Normal with mean 0 and standard deviation `std`; in each column, a fraction `sparsity` of the elements (rounded up)
/// is set to 0 (Martens, ICML 2010). Error unless the tensor has two axes and sparsity is in [0, 1].
void sparse(Tensor tensor, double sparsity, double std = 0.01, Generator& generator = default_generator());
/// The identity matrix, so that a linear layer returns its input. ShapeError unless the tensor has two axes.
void eye(Tensor tensor);
/// The weight (out, in, kernel...) of a convolution that returns its input channels: within each of `groups` groups of
/// output channels, channel i has a 1 at the center of its kernel for input channel i and zeros elsewhere. ShapeError
/// unless the tensor has three to five axes and `out` is divisible by `groups`.
void dirac(Tensor tensor, int64_t groups = 1);

/// PyTorch's default for linear layers and convolutions: weight and bias are uniform in [-1 / sqrt(fan_in), 1 /
/// sqrt(fan_in)). For the weight this equals kaiming_uniform with slope sqrt(5). `bias` may be undefined.
void layer_default(Tensor weight, Tensor bias, Generator& generator = default_generator());

}  // namespace weft::nn::init
