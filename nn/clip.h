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

/// Scales all gradients in place by one common factor so that their total norm is at most `max_norm`. Returns the norm
/// before scaling. Parameters without a gradient are skipped. Only the total norm is read back to the host, and nothing
/// is written if it is small enough already.
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, const ClipOptions& options = {});

/// Clamps every element of every gradient to [-value, value], in place.
void clip_grad_value(const std::vector<Tensor>& parameters, double value);

}  // namespace weft::nn
