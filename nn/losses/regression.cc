#include "nn/losses/regression.h"

#include "nn/losses/reduce.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"

namespace weft::nn {

using detail::operands;
using detail::reduce;

Tensor mse_loss(const Tensor& input, const Tensor& labels, Reduction reduction) {
  ErrorFrame frame("mse_loss", input, labels);
  const auto [x, y] = operands(input, labels);
  return reduce(squared_difference(x, y), reduction);
}

Tensor l1_loss(const Tensor& input, const Tensor& labels, Reduction reduction) {
  ErrorFrame frame("l1_loss", input, labels);
  const auto [x, y] = operands(input, labels);
  return reduce(abs(x - y), reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& labels, const HuberOptions& options) {
  ErrorFrame frame("huber_loss", input, labels);
  const auto [x, y] = operands(input, labels);
  return reduce(huber(x, y, options.delta), options.reduction);
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& y, const SmoothL1Options& options) {
  ErrorFrame frame("smooth_l1_loss", x, y);
  if (!(options.beta >= 0)) throw Error(text("beta must be 0 or more, not ", options.beta));
  if (options.beta == 0) return l1_loss(x, y, options.reduction);
  return huber_loss(x, y, {.delta = options.beta, .reduction = options.reduction}) / options.beta;
}

}  // namespace weft::nn
