// MultiheadAttention: attention of several heads between learned projections.
#pragma once

#include "nn/layers/linear.h"

namespace weft::nn {

struct MultiheadAttentionOptions {
  int64_t embed_dim = 0;
  int64_t num_heads = 0;  // divides embed_dim
  double dropout = 0;     // of the attention probabilities, in training
  bool bias = true;       // of all projections
  DType dtype = f32;
};

/// What a position may see; see AttentionOptions. A mask broadcasts to (N, heads, L, S); where it is bool, true means
/// seen, as in scaled_dot_product_attention (PyTorch's MultiheadAttention means the opposite).
struct AttentionMask {
  Tensor mask = {};
  bool causal = false;
};

/// query (N, L, E), key and value (N, S, E) to (N, L, E): as PyTorch's with batch_first = true; the axis N may be
/// absent. The state has PyTorch's names: in_proj_weight (3 E, E), in_proj_bias (3 E), out_proj.weight, out_proj.bias.
/// Starts as there: Glorot for in_proj_weight, biases 0.
class MultiheadAttention : public Layer<MultiheadAttention> {
 public:
  explicit MultiheadAttention(const MultiheadAttentionOptions& options);
  MultiheadAttention(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttention(MultiheadAttentionOptions{.embed_dim = embed_dim, .num_heads = num_heads}) {}

  /// Self-attention: one product projects q, k and v, and nothing is copied between it and the attention.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;
  using Layer<MultiheadAttention>::operator();
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const {
    return in_layer(*this, query, [&] { return forward(query, key, value, mask); });
  }
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const {
    return in_layer(*this, x, [&] { return forward(x, mask); });
  }

 private:
  void check(const Tensor& x) const;
  /// Projection number `part` of `x`, by heads: (N, heads, L, D).
  Tensor projected(const Tensor& x, int64_t part) const;
  double dropout() const { return is_training() ? options_.dropout : 0.0; }

  MultiheadAttentionOptions options_;
  Tensor in_proj_weight_;
  Tensor in_proj_bias_;
  Linear out_proj_;
};

}  // namespace weft::nn
