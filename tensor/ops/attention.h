// Descriptors of scaled dot-product attention (arXiv 1706.03762), softmax(scale q k^T + mask) v, and its gradient,
// computed without keeping the T x S probabilities of each head.
//
// q (batch..., T, D), k (batch..., S, D) and v (batch..., S, E) have one floating dtype and equal batch axes. The mask
// (batch..., T, S) is optional: bool (false: the key is ignored) or floating (added to the scores).
#pragma once

#include <array>
#include <string>

#include "tensor/core/random.h"
#include "tensor/ops/infer.h"

namespace weft::op {

/// (batch..., rows, columns).
Shape with(Shape batch, int64_t rows, int64_t columns);

/// The attributes of the attention ops.
struct AttentionSetting {
  bool causal;  // query i attends only to keys 0 .. i; if S > T, to keys 0 .. i + S - T
  double scale;
  double dropout_p;  // dropout of the probabilities
  RandomKey key;     // key of the dropout; each row uses a multiple of 4 numbers (S rounded up)
  bool operator==(const AttentionSetting&) const = default;
};
std::string attribute_text(const AttentionSetting& value);

/// The result (batch..., T, E), and for each row `largest` and `factor` (batch..., T, 1), which give the probabilities
/// from the scores: p = exp(score - largest) * factor. They are f64 for f64 inputs, else f32. A row whose keys are all
/// masked is zero and has factor 0.
struct Attention {
  AttentionSetting setting;
  static constexpr std::string_view name = "attention";
  static constexpr std::string_view cost = "4 T S (d + v) operations, no T x S matrix";
  static constexpr int outputs = 3;
  static constexpr Policy policy = {
      .accepts = kFloating, .numeric = 0b111, .optional = 1u << 3, .autocast = Autocasting::lower};
  void attributes(auto visit) const { visit("setting", setting); }
  bool operator==(const Attention&) const = default;
  std::array<Spec, 3> infer(const Operand& q, const Operand& k, const Operand& v, const Operand& mask) const;
  void cpu(const Operand& q, const Operand& k, const Operand& v, const Operand& mask, const Operand& out,
           const Operand& largest, const Operand& factor) const;
};

/// The gradients of q, k and v. The probabilities are recomputed.
struct AttentionBackward {
  AttentionSetting setting;
  static constexpr std::string_view name = "attention_backward";
  static constexpr std::string_view cost = "10 T S d operations, no T x S matrix";
  static constexpr int outputs = 3;
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b1111, .optional = 1u << 4};
  void attributes(auto visit) const { visit("setting", setting); }
  bool operator==(const AttentionBackward&) const = default;
  std::array<Spec, 3> infer(const Operand& g, const Operand& q, const Operand& k, const Operand& v, const Operand& mask,
                            const Operand& largest, const Operand& factor) const;
  void cpu(const Operand& g, const Operand& q, const Operand& k, const Operand& v, const Operand& mask,
           const Operand& largest, const Operand& factor, const Operand& dq, const Operand& dk,
           const Operand& dv) const;
};

}  // namespace weft::op
