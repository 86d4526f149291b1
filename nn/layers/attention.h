// MultiheadAttention: multi-head attention with learned projections.
#pragma once

#include <array>
#include <optional>

#include "nn/layers/kv_cache.h"
#include "nn/layers/linear.h"
#include "nn/layers/options.h"
#include "nn/layers/rope.h"
#include "tensor/functions/attention.h"

namespace weft::nn {

struct MultiheadAttentionOptions {
  int64_t embed_dim = 0;
  int64_t num_heads = 0;  // must divide embed_dim
  double dropout = 0;     // on the attention probabilities, in training
  bool bias = true;       // of all projections
  /// Appends a learned key and value, bias_k and bias_v, to the sequence of keys and values.
  bool add_bias_kv = false;
  bool add_zero_attn = false;  // appends a key and a value of zeros after all others
  int64_t kdim = 0;            // features of keys; 0: embed_dim
  int64_t vdim = 0;            // features of values; 0: embed_dim
  /// Number of heads of keys and values; must divide num_heads. num_heads / num_kv_heads query heads share one key and
  /// value head (grouped-query attention, arXiv 2305.13245). 0: num_heads.
  int64_t num_kv_heads = 0;
  /// Rotates queries and keys by their positions; see rope(). Self-attention only.
  std::optional<RopeOptions> rope = std::nullopt;
  DType dtype = f32;
};

/// Which keys are hidden from a query, as in PyTorch's layers. Where a bool mask is true, the key is hidden. (In
/// scaled_dot_product_attention true means visible, also as in PyTorch.) A floating mask is added to the scores.
struct AttentionMask {
  Tensor mask = {};              // (L, S), (N heads, L, S), or broadcastable to (N, heads, L, S)
  bool causal = false;           // hides the keys after a query's position; see AttentionOptions. Excludes a mask.
  Tensor key_padding_mask = {};  // (N, S), or (S) without N; bool: true where a key is padding
};

struct AttentionWeightsOptions {
  bool average = true;  // average the weights over the heads
};
/// weights are the probabilities that the values are averaged with: (N, L, S), or (N, heads, L, S) if not averaged over
/// the heads.
struct AttentionOutput {
  Tensor output, weights;
};

/// query (N, L, E), key and value (N, S, E) -> (N, L, E), as PyTorch's with batch_first = true; the axis N may be
/// absent of all. ShapeError if they differ in N. The parameters have PyTorch's names: in_proj_weight (3 E, E),
/// in_proj_bias (3 E), out_proj.weight (E, E), out_proj.bias (E). If kdim or vdim differs from E, in_proj_weight is
/// replaced by q_proj_weight (E, E), k_proj_weight (E, kdim) and v_proj_weight (E, vdim). With num_kv_heads <
/// num_heads, keys and values have K = E num_kv_heads / num_heads features instead of E: in_proj_weight is (E + 2 K,
/// E), in_proj_bias (E + 2 K), k_proj_weight (K, kdim), v_proj_weight (K, vdim). bias_k and bias_v are (1, 1, K).
/// Initialization as in PyTorch: Glorot uniform for the weights of the input projections, uniform in [-1 / sqrt(E), 1 /
/// sqrt(E)) for out_proj.weight, Glorot normal for bias_k and bias_v, 0 for the other biases. Dropout with the layer's
/// own generator (set_generator()) stores all attention probabilities.
class MultiheadAttention : public Layer<MultiheadAttention> {
 public:
  explicit MultiheadAttention(const MultiheadAttentionOptions& options);
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, const MultiheadAttentionOptions& options = {})
      : MultiheadAttention(detail::positional(options, &MultiheadAttentionOptions::embed_dim, embed_dim,
                                              &MultiheadAttentionOptions::num_heads, num_heads)) {}

  /// Self-attention. One matrix product projects q, k and v, and attention reads the result without copies.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;
  /// One generation step: x (N, L, E) holds the positions after those in `cache`, and its keys and values are appended
  /// to the cache. Each position sees the cached positions and, causally, the new ones. mask.mask overrides this; it
  /// covers all S positions in the cache after the append. key_padding_mask is (N, S) too.
  Tensor forward(const Tensor& x, KvCache& cache, const AttentionMask& mask = {}) const;
  /// Cross-attention during generation. If `cache` is empty, key and value are projected and stored in it; otherwise
  /// the cached ones are used, and `key` and `value` are not read and may be undefined.
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, KvCache& cache,
                 const AttentionMask& mask = {}) const;
  /// forward() together with the attention weights, as PyTorch's need_weights=True. It stores all attention
  /// probabilities.
  AttentionOutput forward_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionMask& mask = {},
                                       const AttentionWeightsOptions& options = {}) const;
  MultiheadAttention remake() const { return MultiheadAttention(options_); }
  using Layer<MultiheadAttention>::operator();
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const;
  Tensor operator()(const Tensor& x, KvCache& cache, const AttentionMask& mask = {}) const;
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, KvCache& cache,
                    const AttentionMask& mask = {}) const;

 private:
  void check(const Tensor& x, int64_t part) const;
  int64_t depth() const { return options_.embed_dim / options_.num_heads; }
  /// Projection `part` (0: query, 1: key, 2: value) of `x`, split into heads: (N, heads, L, D).
  Tensor projected(const Tensor& x, int64_t part) const;
  /// projected(), followed by rope() if the layer uses it.
  Tensor rotated(const Tensor& x, int64_t part, int64_t position) const;
  /// Attention on projected q, k and v: merges the heads and applies the output projection. If `weights` is not null,
  /// it receives the weights of each head.
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask,
                Tensor* weights = nullptr) const;
  /// `k` with the learned entry (add_bias_kv) and the zeros (add_zero_attn) appended.
  Tensor with_extra_keys(const Tensor& k, const Tensor& bias) const;
  /// `mask` converted to AttentionOptions for `rows` queries and `columns` keys of `batch`, (N) or (), with extra
  /// columns for the keys that with_extra_keys() appends.
  AttentionOptions attention_options(const AttentionMask& mask, const Shape& batch, int64_t rows,
                                     int64_t columns) const;
  /// scaled_dot_product_attention that also returns its probabilities.
  AttentionOutput attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                         const AttentionOptions& options) const;
  double dropout() const { return is_training() ? options_.dropout : 0.0; }
  /// The number of keys that with_extra_keys() appends.
  int64_t extra_keys() const { return int64_t{options_.add_bias_kv} + int64_t{options_.add_zero_attn}; }

  MultiheadAttentionOptions options_;
  Tensor in_proj_weight_;
  std::array<Tensor, 3> proj_weights_;  // of queries, keys and values, if they are separate parameters
  Tensor in_proj_bias_;
  Tensor bias_k_, bias_v_;
  Linear out_proj_;
};

}  // namespace weft::nn
