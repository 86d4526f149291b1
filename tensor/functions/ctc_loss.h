// Connectionist temporal classification (Graves et al. 2006).
#pragma once

#include "tensor/functions/cross_entropy.h"

namespace weft {

struct CtcOptions {
  int64_t blank = 0;  // the class between others
  /// The mean divides each loss by its target's length (or 1) first, as in PyTorch.
  Reduction reduction = Reduction::mean;
  bool zero_infinity = false;  // a target that no alignment fits counts for nothing: loss and gradient are 0
};

/// -log of the probability that log_probs (T, N, C), logarithms of probabilities, spell the targets: summed over all
/// alignments. targets are (N, S), of which the first target_lengths (N) count, or the classes of all one after the
/// other (sum of target_lengths); input_lengths (N) are the steps that count. Where no alignment fits,
/// a loss is infinite and its gradient NaN, as in PyTorch. Without N, log_probs is (T, C), targets (S) and the lengths
/// have no axes. DtypeError unless log_probs is floating and the others integers, ShapeError and IndexError for what
/// does not fit.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcOptions& options = {});

}  // namespace weft
