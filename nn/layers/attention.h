// MultiheadAttention: attention of several heads between learned projections.
#pragma once

#include <optional>

#include "nn/layers/kv_cache.h"
#include "nn/layers/linear.h"
#include "nn/layers/rope.h"

namespace weft::nn {

struct MultiheadAttentionOptions {
  int64_t embed_dim = 0;
  int64_t num_heads = 0;  // divides embed_dim
  double dropout = 0;     // of the attention probabilities, in training
  bool bias = true;       // of all projections
  int64_t num_kv_heads =
      0;  // divides num_heads: so many queries share a key and a value (arXiv 2305.13245); 0: num_heads
  /// Rotates queries and keys by their positions; see rope(). Of self-attention only.
  std::optional<RopeOptions> rope = std::nullopt;
  DType dtype = f32;
};

/// What a position may see; see AttentionOptions. A mask broadcasts to (N, heads, L, S); where it is bool, true means
/// seen, as in scaled_dot_product_attention (PyTorch's MultiheadAttention means the opposite).
struct AttentionMask {
  Tensor mask = {};
  bool causal = false;
  Tensor key_padding_mask = {};  // (N, S), bool: true where a key is padding, which no query attends to (as in PyTorch)
};

/// query (N, L, E), key and value (N, S, E) to (N, L, E): as PyTorch's with batch_first = true; the axis N may be
/// absent. The state has PyTorch's names: in_proj_weight (3 E, E), in_proj_bias (3 E), out_proj.weight, out_proj.bias;
/// with fewer heads of keys and values in_proj has so many rows less. Starts as there: Glorot for in_proj_weight,
/// biases 0.
class MultiheadAttention : public Layer<MultiheadAttention> {
 public:
  explicit MultiheadAttention(const MultiheadAttentionOptions& options);
  MultiheadAttention(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttention(MultiheadAttentionOptions{.embed_dim = embed_dim, .num_heads = num_heads}) {}

  /// Self-attention: one product projects q, k and v, and nothing is copied between it and the attention.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;
  /// A step of generation: x (N, L, E) are the positions behind those of `cache`, which gets their keys and values.
  /// They see what is there and, causally, themselves.
  Tensor forward(const Tensor& x, KvCache& cache) const;
  MultiheadAttention remake() const { return MultiheadAttention(options_); }
  using Layer<MultiheadAttention>::operator();
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const {
    return in_layer(*this, query, [&] { return forward(query, key, value, mask); });
  }
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const {
    return in_layer(*this, x, [&] { return forward(x, mask); });
  }
  Tensor operator()(const Tensor& x, KvCache& cache) const {
    return in_layer(*this, x, [&] { return forward(x, cache); });
  }

 private:
  void check(const Tensor& x) const;
  int64_t depth() const { return options_.embed_dim / options_.num_heads; }
  /// Projection number `part` of `x`, by heads: (N, heads, L, D).
  Tensor projected(const Tensor& x, int64_t part) const;
  /// The same, rotated where the layer does.
  Tensor placed(const Tensor& x, int64_t part, int64_t position) const;
  /// Attention between projections, merged and projected.
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask) const;
  double dropout() const { return is_training() ? options_.dropout : 0.0; }

  MultiheadAttentionOptions options_;
  Tensor in_proj_weight_;
  Tensor in_proj_bias_;
  Linear out_proj_;
};

}  // namespace weft::nn
