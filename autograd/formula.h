// Gradients of fused backward kernels: the kernel's formula is written once more with public ops, and those are
// differentiated. Used only where a rule is differentiated again.
#pragma once

#include <functional>
#include <vector>

#include "autograd/rule.h"

namespace weft::autograd {

/// Tensors in, tensors out, written with public ops.
using Formula = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// The gradients of `inputs` (those that `needs` names; undefined inputs are absent ones) from the gradients of the
/// formula's outputs (undefined where nothing flowed). They can be differentiated again where recording is on.
std::vector<Tensor> differentiate(const Formula& formula, const std::vector<Tensor>& inputs,
                                  const std::vector<Tensor>& gradients, Needs needs);

}  // namespace weft::autograd
