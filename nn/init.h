// Initial values of parameters. Every function writes its tensor in place, outside of the tape; what is random comes
// from `generator`.
#pragma once

#include "tensor/core/random.h"
#include "tensor/tensor.h"

namespace weft::nn::init {

/// What sets the variance: the number of inputs of a unit (in), or of units that read an input (out).
enum class Fan { in, out };

/// Activation functions, by the gain that makes up for their effect on the variance.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };

/// The factor that keeps the variance: 1, 1, 5/3, sqrt(2), sqrt(2 / (1 + slope^2)), 3/4.
double gain(Nonlinearity nonlinearity, double slope = 0.01);

/// The fan of a weight (out, in, ...): its sizes times the elements of one kernel. ShapeError below two axes.
int64_t fan(const Tensor& weight, Fan which);

struct KaimingOptions {
  double slope = 0;  // of the leaky ReLU that follows
  Fan fan = Fan::in;
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu;
};

/// Uniform in [low, high). DtypeError unless floating, Error where low > high.
void uniform(Tensor tensor, double low = 0, double high = 1, Generator& generator = default_generator());
/// Normal with `mean` and `std`. DtypeError unless floating, Error where std < 0.
void normal(Tensor tensor, double mean = 0, double std = 1, Generator& generator = default_generator());
/// Normal values cut off outside of [low, high] (not multiples of std). Error unless low < high and std > 0.
void trunc_normal(Tensor tensor, double mean = 0, double std = 1, double low = -2, double high = 2,
                  Generator& generator = default_generator());
/// Every element is `value`.
void constant(Tensor tensor, double value);
/// Variance gain^2 * 2 / (fan_in + fan_out): Glorot and Bengio, "Understanding the difficulty of training deep
/// feedforward neural networks", AISTATS 2010.
void xavier_uniform(Tensor tensor, double gain = 1, Generator& generator = default_generator());
void xavier_normal(Tensor tensor, double gain = 1, Generator& generator = default_generator());
/// Variance gain^2 / fan: He et al., arXiv 1502.01852.
void kaiming_uniform(Tensor tensor, const KaimingOptions& options = {}, Generator& generator = default_generator());
void kaiming_normal(Tensor tensor, const KaimingOptions& options = {}, Generator& generator = default_generator());
/// Rows, or columns where there are fewer, that are orthogonal and of length `gain`: axes behind the first count as one
/// (Saxe et al., arXiv 1312.6120). ShapeError below two axes.
void orthogonal(Tensor tensor, double gain = 1, Generator& generator = default_generator());
/// normal(0, std), where in each column the share `sparsity` of elements, rounded up, is 0 (Martens, ICML 2010). Error
/// unless the tensor has two axes and sparsity is in [0, 1].
void sparse(Tensor tensor, double sparsity, double std = 0.01, Generator& generator = default_generator());
/// The identity: a linear layer gives its inputs. ShapeError unless the tensor has two axes.
void eye(Tensor tensor);
/// A convolution of weight (O, I, k...) that gives its inputs, as many channels as there are: in each of `groups`
/// groups of O, channel i has a 1 in the middle of its kernel for input i. ShapeError unless the tensor has three to
/// five axes and O divides into the groups.
void dirac(Tensor tensor, int64_t groups = 1);

/// PyTorch's default for linear and convolution: weight and bias (may be undefined) uniform in +-1 / sqrt(fan_in),
/// which for the weight is kaiming_uniform with slope sqrt(5).
void layer_default(Tensor weight, Tensor bias, Generator& generator = default_generator());

}  // namespace weft::nn::init
