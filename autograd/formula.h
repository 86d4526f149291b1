// Second-order gradients of fused backward kernels. The formula of the kernel is written again with public ops, and
// these are differentiated. Used only if a gradient rule is itself differentiated.
#pragma once

#include <functional>
#include <vector>

#include "autograd/rule.h"

namespace weft::autograd {

/// A function from tensors to tensors, written with public ops.
using Formula = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// The gradients of those `inputs` that `needs` selects, given the gradients of the formula's outputs (undefined:
/// zero). An undefined input is an absent one. If recording is on, the result can be differentiated again.
std::vector<Tensor> differentiate(const Formula& formula, const std::vector<Tensor>& inputs,
                                  const std::vector<Tensor>& gradients, Needs needs);

}  // namespace weft::autograd
