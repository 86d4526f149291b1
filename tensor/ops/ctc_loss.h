// Descriptors of connectionist temporal classification (Graves et al. 2006) and its gradient.
//
// log_probs (T, N, C); targets (N, S), padded at the end; input_lengths and target_lengths (N): the number of valid
// steps and classes of each sequence. The alignments of a target of length L are paths through 2 L + 1 states: blank,
// class, blank, ..., class, blank.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// For each sequence, -log of the total probability of its alignments: (N). If there is none, infinity, or 0 with
/// zero_infinity.
struct CtcLoss {
  int64_t blank;
  bool zero_infinity;
  static constexpr std::string_view name = "ctc_loss";
  static constexpr std::string_view cost = "steps x (2 labels + 1) a sample";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b1, .autocast = Autocasting::full};
  void attributes(auto visit) const { visit("blank", blank), visit("zero_infinity", zero_infinity); }
  bool operator==(const CtcLoss&) const = default;
  Spec infer(const Operand& log_probs, const Operand& targets, const Operand& input_lengths,
             const Operand& target_lengths) const;
  void cpu(const Operand& log_probs, const Operand& targets, const Operand& input_lengths,
           const Operand& target_lengths, const Operand& loss) const;
};

/// The gradient of log_probs, where g (N) is that of the losses. If a loss is infinite: NaN, or 0 with zero_infinity.
struct CtcLossBackward {
  int64_t blank;
  bool zero_infinity;
  static constexpr std::string_view name = "ctc_loss_backward";
  static constexpr std::string_view cost = "steps x (2 labels + 1) a sample";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b00011};
  void attributes(auto visit) const { visit("blank", blank), visit("zero_infinity", zero_infinity); }
  bool operator==(const CtcLossBackward&) const = default;
  Spec infer(const Operand& g, const Operand& log_probs, const Operand& targets, const Operand& input_lengths,
             const Operand& target_lengths) const;
  void cpu(const Operand& g, const Operand& log_probs, const Operand& targets, const Operand& input_lengths,
           const Operand& target_lengths, const Operand& out) const;
};

}  // namespace weft::op
