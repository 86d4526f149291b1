// Cross entropy from logits and class indices, fused.
#pragma once

#include "tensor/apply.h"

namespace weft {

enum class Reduction { none, mean, sum };

struct CrossEntropyOptions {
  Tensor weight = {};                     // (classes): factor per class
  int64_t ignore_index = -100;            // targets that count for nothing
  double label_smoothing = 0.0;           // in [0, 1]
  Reduction reduction = Reduction::mean;  // the mean is over the targets' weights, as in PyTorch
};

/// -log softmax(logits)[target], logits (N, C) or (N, C, d1, ...), targets (N) or (N, d1, ...) of an integer dtype.
/// IndexError `class 3 is out of range for 3 classes`.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options = {});

/// The gradient of the op below in its logits: scale (sum(t) softmax(logits) - t), see cross_entropy.cc.
Tensor cross_entropy_backward(const Tensor& scale, const Tensor& logits, const Tensor& targets, const Tensor& weight,
                              int64_t ignore_index, double label_smoothing);

namespace op {

/// The loss of each target, classes along axis 1, and the weight it counts with in a mean.
struct CrossEntropy {
  int64_t ignore_index;
  double label_smoothing;
  static constexpr std::string_view name = "cross_entropy";
  static constexpr int outputs = 2;
  static constexpr uint32_t optional_inputs = 1u << 2;  // the class weights
  void attributes(auto visit) const { visit("ignore_index", ignore_index), visit("label_smoothing", label_smoothing); }
  bool operator==(const CrossEntropy&) const = default;
  std::array<Spec, 2> infer(const Tensor& logits, const Tensor& targets, const Tensor& weight) const;
  void run(const Tensor& logits, const Tensor& targets, const Tensor& weight, std::array<Tensor, 2>& out) const;
};

/// See cross_entropy_backward.
struct CrossEntropyBackward {
  int64_t ignore_index;
  double label_smoothing;
  static constexpr std::string_view name = "cross_entropy_backward";
  static constexpr uint32_t optional_inputs = 1u << 3;  // the class weights
  void attributes(auto visit) const { visit("ignore_index", ignore_index), visit("label_smoothing", label_smoothing); }
  bool operator==(const CrossEntropyBackward&) const = default;
  Spec infer(const Tensor& scale, const Tensor& logits, const Tensor& targets, const Tensor& weight) const;
  void run(const Tensor& scale, const Tensor& logits, const Tensor& targets, const Tensor& weight, Tensor& out) const;
};

}  // namespace op
}  // namespace weft
