// AdaptiveLogSoftmaxWithLoss: a softmax over many classes that spends little computation on rare classes.
#pragma once

#include <vector>

#include "nn/layers/containers.h"
#include "nn/layers/linear.h"
#include "nn/layers/sequential.h"

namespace weft::nn {

struct AdaptiveLogSoftmaxOptions {
  int64_t in_features = 0;
  int64_t n_classes = 0;
  /// The first class of each cluster of rarer classes; ascending and below n_classes.
  std::vector<int64_t> cutoffs = {};
  double div_value = 4.0;  // cluster i projects x to in_features / div_value^(i + 1) features
  bool head_bias = false;
  DType dtype = f32;
};

/// output (N) is the log-probability of each row's target; loss is -mean(output).
struct AdaptiveLogSoftmaxOutput {
  Tensor output, loss;
};

/// Adaptive softmax (Grave et al., arXiv 1609.04309). Classes are numbered from frequent to rare. The head scores the
/// first cutoffs[0] classes and the clusters; each cluster scores its own classes. The parameters have PyTorch's names:
/// head.weight, tail.0.0.weight, tail.0.1.weight, ...
class AdaptiveLogSoftmaxWithLoss : public Module {
 public:
  explicit AdaptiveLogSoftmaxWithLoss(const AdaptiveLogSoftmaxOptions& options);
  /// x is (N, in_features) and target is (N), or x is (in_features) and target is 0-d. IndexError for a target that is
  /// not a class.
  AdaptiveLogSoftmaxOutput forward(const Tensor& x, const Tensor& target) const;
  AdaptiveLogSoftmaxOutput operator()(const Tensor& x, const Tensor& target) const;
  /// The log-probabilities of all classes, (N, n_classes).
  Tensor log_prob(const Tensor& x) const;
  /// The most probable class of each row.
  Tensor predict(const Tensor& x) const;
  AdaptiveLogSoftmaxWithLoss remake() const { return AdaptiveLogSoftmaxWithLoss(options_); }

 private:
  /// The log-probability of each row's target, (N). A cluster is computed only for the rows whose targets it contains;
  /// a cluster without such rows gets no gradient.
  Tensor of_targets(const Tensor& x, const Tensor& target) const;

  AdaptiveLogSoftmaxOptions options_;
  Linear head_;
  ModuleList<Sequential> tail_;
};

}  // namespace weft::nn
