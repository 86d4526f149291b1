// Limiting gradients before a step.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft::nn {

struct ClipOptions {
  double norm = 2;  // the norm's order; may be infinity
  /// Error where the norm is NaN or Inf; else the gradients become NaN or 0, as in PyTorch.
  bool error_if_nonfinite = false;
};

/// Scales all gradients (in place) by one factor so that their norm, taken together, is at most `max_norm`. Returns the
/// norm before. Parameters without a gradient count for nothing. The norms are read once, not per parameter, and
/// nothing is written where they are small enough.
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, const ClipOptions& options = {});

/// Limits every element of every gradient to [-value, value], in place.
void clip_grad_value(const std::vector<Tensor>& parameters, double value);

}  // namespace weft::nn
