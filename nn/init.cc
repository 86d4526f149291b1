#include "nn/init.h"

#include <cmath>
#include <numbers>

#include "autograd/grad_mode.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/random.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"

namespace weft::nn::init {

double gain(Nonlinearity nonlinearity, double slope) {
  switch (nonlinearity) {
    case Nonlinearity::tanh: return 5.0 / 3.0;
    case Nonlinearity::relu: return std::sqrt(2.0);
    case Nonlinearity::leaky_relu: return std::sqrt(2.0 / (1.0 + slope * slope));
    case Nonlinearity::selu: return 0.75;
    case Nonlinearity::linear:
    case Nonlinearity::sigmoid: break;
  }
  return 1.0;
}

int64_t fan(const Tensor& weight, Fan which) {
  Frame frame("fan", weight);
  if (weight.rank() < 2) throw ShapeError("a fan needs a weight with two or more axes");
  int64_t product = weight.size(which == Fan::in ? 1 : 0);
  for (int64_t axis = 2; axis < weight.rank(); ++axis) product = checked_multiply(product, weight.size(axis));
  return product;
}

void uniform(Tensor tensor, double low, double high) {
  Frame frame("uniform", tensor);
  NoGrad guard;
  tensor.uniform_(low, high);
}

void normal(Tensor tensor, double mean, double std) {
  Frame frame("normal", tensor);
  NoGrad guard;
  tensor.normal_(mean, std);
}

void trunc_normal(Tensor tensor, double mean, double std, double low, double high) {
  Frame frame("trunc_normal", tensor);
  if (!(low < high)) throw Error(text("low ", low, " must be below high ", high));
  if (!(std > 0)) throw Error(text("the standard deviation ", std, " must be above 0"));
  NoGrad guard;
  // The inverse of the distribution function, between its values at the bounds.
  const auto below = [&](double x) { return std::erf((x - mean) / (std * std::numbers::sqrt2)); };
  const Tensor u = rand(tensor.shape(), f64, tensor.device()) * (below(high) - below(low)) + below(low);
  tensor.copy_(clip(erfinv(u) * (std * std::numbers::sqrt2) + mean, low, high));
}

void constant(Tensor tensor, double value) {
  NoGrad guard;
  tensor.fill_(value);
}

void xavier_uniform(Tensor tensor, double gain) {
  const double bound = gain * std::sqrt(6.0 / static_cast<double>(fan(tensor, Fan::in) + fan(tensor, Fan::out)));
  uniform(tensor, -bound, bound);
}

void xavier_normal(Tensor tensor, double gain) {
  normal(tensor, 0, gain * std::sqrt(2.0 / static_cast<double>(fan(tensor, Fan::in) + fan(tensor, Fan::out))));
}

void kaiming_uniform(Tensor tensor, const KaimingOptions& options) {
  const double inputs = static_cast<double>(fan(tensor, options.fan));
  const double bound = gain(options.nonlinearity, options.slope) * std::sqrt(3.0 / inputs);
  uniform(tensor, -bound, bound);
}

void kaiming_normal(Tensor tensor, const KaimingOptions& options) {
  const double inputs = static_cast<double>(fan(tensor, options.fan));
  normal(tensor, 0, gain(options.nonlinearity, options.slope) / std::sqrt(inputs));
}

void layer_default(Tensor weight, Tensor bias) {
  if (weight.numel() > 0) kaiming_uniform(weight, {.slope = std::sqrt(5.0)});
  if (!bias.defined()) return;
  const int64_t inputs = fan(weight, Fan::in);
  const double bound = inputs > 0 ? 1.0 / std::sqrt(static_cast<double>(inputs)) : 0.0;
  uniform(bias, -bound, bound);
}

}  // namespace weft::nn::init
