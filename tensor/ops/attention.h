// Scaled dot-product attention (arXiv 1706.03762), computed without keeping the T x S probabilities of each head.
#pragma once

#include "tensor/apply.h"

namespace weft {

struct AttentionOptions {
  /// (..., T, S), broadcast: bool (false: not seen) or of q's dtype (added to the scores). Not together with `causal`.
  Tensor mask = {};
  bool causal = false;                         // position i sees positions 0 .. i only
  std::optional<double> scale = std::nullopt;  // of the scores; 1 / sqrt(D) where absent
  double dropout_p = 0;                        // of the probabilities; drawn from the global generator
};

/// softmax(scale q k^T + mask) v: q (..., T, D), k (..., S, D), v (..., S, E) give (..., T, E). Leading axes broadcast. One
/// floating dtype; bf16 and f16 are computed in f32. A row that sees nothing is zero. The result keeps q's order of the
/// last batch axis and T, so that heads that were split as a view are merged as one.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});

/// The same for the heads of a packed projection: qkv (..., T, 3 heads D) holds q, k and v of all heads side by side, as
/// PyTorch's in_proj_weight makes them, and (..., T, heads D) comes out. A mask is (..., heads, T, T), broadcast. No part
/// is copied, and the gradient is one tensor like qkv.
Tensor packed_attention(const Tensor& qkv, int64_t heads, const AttentionOptions& options = {});

/// What the attention ops carry.
struct AttentionSetting {
  bool causal;
  double scale;
  double dropout_p;
  uint64_t seed;  // of the dropout, with offset
  uint64_t offset;
  bool operator==(const AttentionSetting&) const = default;
};
std::string attribute_text(const AttentionSetting& value);

namespace op {

/// Inputs q, k, v (equal batch axes) and the mask, expanded. The result, and of every row (batch..., T, 1) the largest
/// score and 1 / (sum of exp(score - largest)), from which the gradient gets the probabilities back.
struct Attention {
  AttentionSetting setting;
  static constexpr std::string_view name = "attention";
  static constexpr int outputs = 3;
  static constexpr uint32_t optional_inputs = 1u << 3;  // the mask
  void attributes(auto visit) const { visit("setting", setting); }
  bool operator==(const Attention&) const = default;
  std::array<Spec, 3> infer(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) const;
  void run(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, std::array<Tensor, 3>& out) const;
};

/// The gradients of q, k and v.
struct AttentionBackward {
  AttentionSetting setting;
  static constexpr std::string_view name = "attention_backward";
  static constexpr int outputs = 3;
  static constexpr uint32_t optional_inputs = 1u << 4;
  void attributes(auto visit) const { visit("setting", setting); }
  bool operator==(const AttentionBackward&) const = default;
  std::array<Spec, 3> infer(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                            const Tensor& largest, const Tensor& factor) const;
  void run(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
           const Tensor& largest, const Tensor& factor, std::array<Tensor, 3>& out) const;
};

/// Attention of the three parts of one tensor.
struct PackedAttention {
  int64_t heads;
  AttentionSetting setting;
  static constexpr std::string_view name = "packed_attention";
  static constexpr int outputs = 3;
  static constexpr uint32_t optional_inputs = 1u << 1;
  void attributes(auto visit) const { visit("heads", heads), visit("setting", setting); }
  bool operator==(const PackedAttention&) const = default;
  std::array<Spec, 3> infer(const Tensor& qkv, const Tensor& mask) const;
  void run(const Tensor& qkv, const Tensor& mask, std::array<Tensor, 3>& out) const;
};

/// The gradient of qkv.
struct PackedAttentionBackward {
  int64_t heads;
  AttentionSetting setting;
  static constexpr std::string_view name = "packed_attention_backward";
  static constexpr uint32_t optional_inputs = 1u << 2;
  void attributes(auto visit) const { visit("heads", heads), visit("setting", setting); }
  bool operator==(const PackedAttentionBackward&) const = default;
  Spec infer(const Tensor& g, const Tensor& qkv, const Tensor& mask, const Tensor& largest, const Tensor& factor) const;
  void run(const Tensor& g, const Tensor& qkv, const Tensor& mask, const Tensor& largest, const Tensor& factor,
           Tensor& out) const;
};

}  // namespace op
}  // namespace weft
