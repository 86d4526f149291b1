// Losses of numbers. The definitions are PyTorch's; the mean is taken over all elements.
#pragma once

#include "tensor/core/reduction.h"
#include "tensor/tensor.h"

namespace weft::nn {

using weft::Reduction;
using weft::ReductionOptions;

/// (x - y)^2. ShapeError unless x and y have the same shape: losses do not broadcast.
Tensor mse_loss(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean);
inline Tensor mse_loss(const Tensor& x, const Tensor& y, const ReductionOptions& options) {
  return mse_loss(x, y, options.reduction);
}
/// |x - y|. ShapeError unless x and y have the same shape.
Tensor l1_loss(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean);
inline Tensor l1_loss(const Tensor& x, const Tensor& y, const ReductionOptions& options) {
  return l1_loss(x, y, options.reduction);
}

struct HuberOptions {
  double delta = 1.0;  // the |x - y| at which the loss changes from quadratic to linear; positive
  Reduction reduction = Reduction::mean;
};

/// (x - y)^2 / 2 where |x - y| <= delta, else delta (|x - y| - delta / 2). ShapeError unless x and y have the same
/// shape, Error unless delta > 0.
Tensor huber_loss(const Tensor& x, const Tensor& y, const HuberOptions& options = {});

struct SmoothL1Options {
  double beta = 1.0;  // the |x - y| at which the loss changes from quadratic to linear; 0 gives l1_loss
  Reduction reduction = Reduction::mean;
};

/// (x - y)^2 / (2 beta) where |x - y| <= beta, else |x - y| - beta / 2. This is huber_loss with delta = beta, divided
/// by beta. ShapeError unless x and y have the same shape, Error if beta < 0.
Tensor smooth_l1_loss(const Tensor& x, const Tensor& y, const SmoothL1Options& options = {});

}  // namespace weft::nn
