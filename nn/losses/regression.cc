#include "nn/losses/regression.h"

#include "nn/losses/reduce.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"

namespace weft::nn {

using detail::operands;
using detail::reduce;

Tensor mse_loss(const Tensor& x, const Tensor& y, Reduction reduction) {
  ErrorFrame frame("mse_loss", x, y);
  const auto [input, labels] = operands(x, y);
  return reduce(squared_difference(input, labels), reduction);
}

Tensor l1_loss(const Tensor& x, const Tensor& y, Reduction reduction) {
  ErrorFrame frame("l1_loss", x, y);
  const auto [input, labels] = operands(x, y);
  return reduce(abs(input - labels), reduction);
}

Tensor huber_loss(const Tensor& x, const Tensor& y, const HuberOptions& options) {
  ErrorFrame frame("huber_loss", x, y);
  const auto [input, labels] = operands(x, y);
  return reduce(huber(input, labels, options.delta), options.reduction);
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& y, const SmoothL1Options& options) {
  ErrorFrame frame("smooth_l1_loss", x, y);
  if (!(options.beta >= 0)) throw Error(text("beta must be 0 or more, not ", options.beta));
  if (options.beta == 0) return l1_loss(x, y, options.reduction);
  // Before the division, the loss may overflow or underflow in f16.
  if (const auto [input, labels] = operands(x, y); promote(input.dtype(), labels.dtype()) == f16)
    return reduce(cast(huber(cast(input, f32), cast(labels, f32), options.beta) / options.beta, f16),
                  options.reduction);
  return huber_loss(x, y, {.delta = options.beta, .reduction = options.reduction}) / options.beta;
}

}  // namespace weft::nn
