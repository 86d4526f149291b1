// Perplexity of language models.
#pragma once

#include "metrics/predictions.h"

namespace weft::metrics {

struct PerplexityOptions {
  int64_t ignore_index = kIgnoreNone;  // targets that do not count
};

/// e to the mean negative log-likelihood of the targets, over all batches.
class Perplexity {
 public:
  explicit Perplexity(const PerplexityOptions& options = {}) : options_(options) {}
  /// Logits (n, classes, ...) for targets (n, ...).
  void update(const Tensor& logits, const Tensor& targets);
  /// NaN before anything was counted.
  double value() const;
  int64_t count() const { return count_; }
  void reset() { loss_ = 0, count_ = 0; }

 private:
  PerplexityOptions options_;
  double loss_ = 0;
  int64_t count_ = 0;
};

}  // namespace weft::metrics
