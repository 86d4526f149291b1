// Descriptors of cross entropy from logits (N, C, ...) and class indices (N, ...). With s the label smoothing, w the
// class weights (C) (or 1) and y the target, the target stands for the distribution t = (1 - s) w[y] onehot(y) + s /
// C w.
#pragma once

#include <array>

#include "tensor/ops/infer.h"

namespace weft::op {

/// How the rows count; what both ops carry.
struct CrossEntropyRows {
  int64_t ignore_index = -100;  // targets that count for nothing
  double label_smoothing = 0;
  void attributes(auto visit) const { visit("ignore_index", ignore_index), visit("label_smoothing", label_smoothing); }
  bool operator==(const CrossEntropyRows&) const = default;
};

/// Of each target the loss, -sum(t log_softmax(logits)), and the weight it counts with in a mean, w[y]; both are 0
/// where it is ignored; with `widens` f32 for logits of 16 bits. The class weights have any floating dtype. IndexError
/// `class 3 is out of range for 3 classes`, naming the first such target.
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

/// The gradient of the logits: scale (sum(t) softmax(logits) - t), `scale` being the gradient of each loss,
/// of any floating dtype as the class weights.
struct CrossEntropyBackward : CrossEntropyRows {
  static constexpr std::string_view name = "cross_entropy_backward";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b10, .optional = 0b1000};
  bool operator==(const CrossEntropyBackward&) const = default;
  Spec infer(const Operand& scale, const Operand& logits, const Operand& targets, const Operand& weight) const;
  void cpu(const Operand& scale, const Operand& logits, const Operand& targets, const Operand& weight,
           const Operand& out) const;
};

}  // namespace weft::op
