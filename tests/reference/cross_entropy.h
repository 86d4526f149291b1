// Naive cross entropy of one target.
#pragma once

#include "tests/reference/array.h"

namespace weft::testing::reference {

/// The distribution that a target stands for, and what the loss makes of it.
struct CrossEntropy {
  Row share, log_softmax;  // of each class
  double weight = 0;       // of the target's class; 0 where it is ignored

  double loss() const;
  /// d loss / d logits.
  Row gradient() const;
};
/// The options; `weights` below is one number for each class.
struct CrossEntropyForm {
  int64_t ignore_index = -100;
  double label_smoothing = 0;
};
CrossEntropy cross_entropy(const Row& logits, int64_t target, const Row& weights, const CrossEntropyForm& form);

}  // namespace weft::testing::reference
