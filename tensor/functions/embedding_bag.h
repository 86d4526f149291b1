// Sums and maxima of bags of rows of a table. nn::EmbeddingBag has PyTorch's modes and options, means too.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// out[b] = the sum of the rows of `weight` (rows, width) that the indices of bag b name, each times its factor where
/// `factors` is given; zeros for an empty bag. `indices` (n) has the bags one after the other, `offsets` where each
/// begins. Index `padding_idx` is in no bag (negative: none). Under Autocast the result has the scope's dtype.
/// IndexError for an index out of range, and for offsets that do not begin at 0 or fall.
Tensor embedding_bag_sum(const Tensor& indices, const Tensor& weight, const Tensor& offsets, const Tensor& factors = {},
                         int64_t padding_idx = -1);
/// The same of the largest value in each column; NaN is larger than everything. The gradient goes to the first of them.
Tensor embedding_bag_max(const Tensor& indices, const Tensor& weight, const Tensor& offsets, int64_t padding_idx = -1);

}  // namespace weft
