// Masks for nn::prune(): which elements of a weight are removed (0) and kept (1). As in torch.nn.utils.prune, an amount
// is a fraction in [0, 1], rounded to whole elements or slices, or an integer, their number.
#pragma once

#include <vector>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft::nn {

/// Removes the elements with the smallest absolute values (l1_unstructured). The mask has the weight's shape and dtype
/// and is on its device, here and below. Error for an amount that is negative or more than there is. Of equal values,
/// the first are removed.
Tensor l1_mask(const Tensor& weight, const Scalar& amount);
/// Removes elements at random (random_unstructured), drawn from the default generator.
Tensor random_mask(const Tensor& weight, const Scalar& amount);
/// Removes the slices along `axis` with the smallest norm of order n (ln_structured). IndexError for an axis out of
/// range.
Tensor ln_structured_mask(const Tensor& weight, const Scalar& amount, double n, int64_t axis);
/// Removes slices along `axis` at random (random_structured).
Tensor random_structured_mask(const Tensor& weight, const Scalar& amount, int64_t axis);
/// l1_mask() of several weights together, a mask for each: the smallest of all are removed (global_unstructured).
std::vector<Tensor> global_l1_masks(const std::vector<Tensor>& weights, const Scalar& amount);

}  // namespace weft::nn
