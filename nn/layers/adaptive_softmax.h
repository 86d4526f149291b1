// AdaptiveLogSoftmaxWithLoss: a softmax over many classes that spends little on rare ones.
#pragma once

#include <vector>

#include "nn/layers/linear.h"
#include "nn/layers/sequential.h"

namespace weft::nn {

struct AdaptiveLogSoftmaxOptions {
  int64_t in_features = 0;
  int64_t n_classes = 0;
  std::vector<int64_t> cutoffs = {};  // where the clusters of rarer classes begin, ascending, below n_classes
  double div_value = 4.0;             // cluster i is projected to in_features / div_value^(i + 1) numbers
  bool head_bias = false;
  DType dtype = f32;
};

/// Of each row, the logarithm of the target's probability; and minus their mean.
struct AdaptiveLogSoftmaxOutput {
  Tensor output, loss;
};

/// Grave et al., arXiv 1609.04309: classes are numbered from frequent to rare; the head chooses among the first
/// cutoffs[0] of them and the clusters, and each cluster among its own. The state has PyTorch's names: head.weight,
/// tail.0.0.weight, tail.0.1.weight, ...
class AdaptiveLogSoftmaxWithLoss : public Module {
 public:
  explicit AdaptiveLogSoftmaxWithLoss(const AdaptiveLogSoftmaxOptions& options);
  /// x (N, in_features) and target (N), or without N. IndexError for a target that is no class.
  AdaptiveLogSoftmaxOutput forward(const Tensor& x, const Tensor& target) const;
  AdaptiveLogSoftmaxOutput operator()(const Tensor& x, const Tensor& target) const {
    return in_layer(
        *this, [&](const Tensor& a, const Tensor& b) { return forward(a, b); }, x, target);
  }
  /// The logarithms of all probabilities, (N, n_classes).
  Tensor log_prob(const Tensor& x) const;
  /// The most probable class of each row.
  Tensor predict(const Tensor& x) const;
  AdaptiveLogSoftmaxWithLoss remake() const { return AdaptiveLogSoftmaxWithLoss(options_); }

 private:
  /// The logarithm of each row's target (N): a cluster computes the rows whose targets are its own, and one that has
  /// none gets no gradient.
  Tensor of_targets(const Tensor& x, const Tensor& target) const;

  AdaptiveLogSoftmaxOptions options_;
  Linear head_;
  ModuleList<Sequential> tail_;
};

}  // namespace weft::nn
