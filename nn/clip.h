// Gradient clipping, before an optimizer step.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft::nn {

struct ClipOptions {
  double norm = 2;  // the order p of the norm; may be infinity
  /// If true, a norm that is NaN or Inf is an Error; if false, the gradients become NaN or 0, as in PyTorch.
  bool error_if_nonfinite = false;
};

/// Multiplies all gradients in place by max_norm / (norm + 1e-6) if that is less than 1, so that their total norm is at
/// most `max_norm`. Returns the norm before scaling, 0 if there are no gradients. Error if max_norm < 0. Parameters
/// without a gradient are skipped. Only the total norm is read back to the host, and nothing is written if it is small
/// enough already.
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, const ClipOptions& options = {});

/// Clamps every element of every gradient to [-value, value], in place. Error if value < 0.
void clip_grad_value(const std::vector<Tensor>& parameters, double value);

}  // namespace weft::nn
