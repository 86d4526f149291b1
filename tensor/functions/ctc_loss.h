// Connectionist temporal classification (Graves et al. 2006).
#pragma once

#include "tensor/core/reduction.h"
#include "tensor/tensor.h"

namespace weft {

struct CtcOptions {
  int64_t blank = 0;  // index of the blank class
  /// mean first divides each loss by the length of its target (at least 1), as in PyTorch.
  Reduction reduction = Reduction::mean;
  bool zero_infinity = false;  // an infinite loss (no alignment exists) and its gradient become 0
};

/// -log of the probability of the targets, summed over all alignments, given log_probs (T, N, C), the logarithms of the
/// class probabilities of each step. targets are (N, S), with target_lengths (N) valid entries in each row, or 1-D with
/// the targets of all rows concatenated. input_lengths (N) is the number of valid steps of each row. If no alignment
/// exists, the loss is infinite and its gradient is NaN, as in PyTorch. Without a batch axis, log_probs is (T, C),
/// targets are (S), and the lengths are 0-d. DtypeError unless log_probs is floating and the other tensors are
/// integers; ShapeError and IndexError for shapes, lengths and classes that do not match.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcOptions& options = {});

}  // namespace weft
