// Perplexity of language models.
#pragma once

#include "metrics/predictions.h"

namespace weft::metrics {

struct PerplexityOptions {
  int64_t ignore_index = kIgnoreIndex;  // targets with this value are ignored
};

/// exp of the mean negative log-likelihood of the targets, over all batches.
class Perplexity {
 public:
  explicit Perplexity(const PerplexityOptions& options = {}) : options_(options) {}
  /// Adds a batch: logits (n, classes, ...) and targets (n, ...). 16-bit logits are cast to f32. IndexError if
  /// a target is not in [0, classes).
  void update(const Tensor& logits, const Tensor& targets);
  /// NaN if nothing was counted.
  double value() const;
  int64_t count() const { return count_; }
  void reset() { loss_ = 0, count_ = 0; }

 private:
  PerplexityOptions options_;
  double loss_ = 0;
  int64_t count_ = 0;
};

}  // namespace weft::metrics
