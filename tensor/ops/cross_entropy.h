// Descriptors of cross entropy from logits (N, C, ...) and class indices (N, ...). With label smoothing s and class
// weights w (C) (1 if absent), a target y stands for the weighted distribution t = (1 - s) w[y] onehot(y) + (s / C) w.
#pragma once

#include <array>

#include "tensor/ops/infer.h"

namespace weft::op {

/// The attributes that both ops share.
struct CrossEntropyRows {
  int64_t ignore_index = -100;  // targets of this value contribute neither loss nor gradient
  double label_smoothing = 0;
  void attributes(auto visit) const { visit("ignore_index", ignore_index), visit("label_smoothing", label_smoothing); }
  bool operator==(const CrossEntropyRows&) const = default;
};

/// For each target the loss, -sum(t log_softmax(logits)), and its weight in a mean, w[y]. Both are 0 for an ignored
/// target. With `widens`, results are f32 for 16-bit logits. The class weights have any floating dtype. IndexError for
/// the first target out of range: `class 3 is out of range for 3 classes`.
struct CrossEntropy : CrossEntropyRows {
  bool widens = false;
  static constexpr std::string_view name = "cross_entropy";
  static constexpr int outputs = 2;
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b1, .optional = 0b100};
  void attributes(auto visit) const { CrossEntropyRows::attributes(visit), visit("widens", widens); }
  bool operator==(const CrossEntropy&) const = default;
  std::array<Spec, 2> infer(const Operand& logits, const Operand& targets, const Operand& weight) const;
  void cpu(const Operand& logits, const Operand& targets, const Operand& weight, const Operand& loss,
           const Operand& count) const;
};

/// The gradient of the logits: scale (sum(t) softmax(logits) - t), where `scale` is the gradient of each loss. scale
/// and the class weights have any floating dtype.
struct CrossEntropyBackward : CrossEntropyRows {
  static constexpr std::string_view name = "cross_entropy_backward";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b10, .optional = 0b1000};
  bool operator==(const CrossEntropyBackward&) const = default;
  Spec infer(const Operand& scale, const Operand& logits, const Operand& targets, const Operand& weight) const;
  void cpu(const Operand& scale, const Operand& logits, const Operand& targets, const Operand& weight,
           const Operand& out) const;
};

}  // namespace weft::op
