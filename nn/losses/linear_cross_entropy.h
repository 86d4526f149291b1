// The cross entropy of a linear layer's outputs, for many classes: the logits are never stored as a whole.
#pragma once

#include "tensor/core/reduction.h"
#include "tensor/tensor.h"

namespace weft::nn {

struct LinearCrossEntropyOptions {
  Tensor bias = {};    // (C): the layer's bias
  Tensor weight = {};  // the others as in CrossEntropyOptions
  int64_t ignore_index = -100;
  double label_smoothing = 0.0;
  Reduction reduction = Reduction::mean;
  int64_t rows = 0;  // so many rows of x at a time; 0: as many as have 2^24 logits, but 128 or more
};

/// cross_entropy(linear(x, matrix, bias), targets) of x (..., F) and the layer's matrix (C, F). Targets are class
/// indices (...) or class probabilities (..., C). The rows of x are taken in parts, and backward computes the logits of
/// a part again (autograd::checkpoint): the memory for the logits and their gradient is that of one part, the layer
/// takes four products instead of three. Parameters of 16 bits are cast for each part, so that the gradients of parts
/// are added in f32. Differentiable any number of times. ShapeError unless the shapes fit.
Tensor linear_cross_entropy(const Tensor& x, const Tensor& matrix, const Tensor& targets,
                            const LinearCrossEntropyOptions& options = {});

}  // namespace weft::nn
