// Sums and maxima over bags (groups) of rows of an embedding table. nn::EmbeddingBag has all of PyTorch's modes and
// options, including the mean.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// out[b] is the sum of the rows of `weight` (rows, width) at the indices of bag b; an empty bag gives zeros. If
/// `factors` (n) is given, each row is multiplied by its factor. `indices` (n) holds the bags one after the other, and
/// `offsets` (bags) the position at which each begins. Indices equal to `padding_idx` are skipped (negative: none are).
/// Under Autocast the result has the scope's dtype. IndexError for an index out of range, and for offsets that do not
/// begin at 0 or that decrease.
Tensor embedding_bag_sum(const Tensor& indices, const Tensor& weight, const Tensor& offsets, const Tensor& factors = {},
                         int64_t padding_idx = -1);
/// The same with the maximum of each column instead of the sum. NaN counts as larger than every number. If values tie,
/// the first gets the gradient.
Tensor embedding_bag_max(const Tensor& indices, const Tensor& weight, const Tensor& offsets, int64_t padding_idx = -1);

}  // namespace weft
