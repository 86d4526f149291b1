// MultiheadAttention: attention of several heads between learned projections.
#pragma once

#include <array>
#include <optional>

#include "nn/layers/kv_cache.h"
#include "nn/layers/linear.h"
#include "nn/layers/rope.h"
#include "tensor/functions/attention.h"

namespace weft::nn {

struct MultiheadAttentionOptions {
  int64_t embed_dim = 0;
  int64_t num_heads = 0;       // divides embed_dim
  double dropout = 0;          // of the attention probabilities, in training
  bool bias = true;            // of all projections
  bool add_bias_kv = false;    // a key and a value that are parameters, bias_k and bias_v, behind the others
  bool add_zero_attn = false;  // a key and a value of zeros behind all
  int64_t kdim = 0;            // features of keys; 0: embed_dim
  int64_t vdim = 0;            // features of values; 0: embed_dim
  /// Divides num_heads: so many queries share a key and a value (arXiv 2305.13245); 0: num_heads.
  int64_t num_kv_heads = 0;
  /// Rotates queries and keys by their positions; see rope(). Of self-attention only.
  std::optional<RopeOptions> rope = std::nullopt;
  DType dtype = f32;
};

/// What a query does not attend to, as in PyTorch's layers: where a mask of bool is true, a key is hidden. (In
/// scaled_dot_product_attention, there as here, true means that it is seen.) A floating mask is added to the scores.
struct AttentionMask {
  Tensor mask = {};              // (L, S), (N heads, L, S), or what broadcasts to (N, heads, L, S)
  bool causal = false;           // hides the keys behind a query; see AttentionOptions. Not together with a mask.
  Tensor key_padding_mask = {};  // (N, S), bool: true where a key is padding
};

struct AttentionWeightsOptions {
  bool average = true;  // over the heads
};
/// weights are the probabilities that the values are summed with: (N, L, S), or (N, heads, L, S) of each head.
struct AttentionOutput {
  Tensor output, weights;
};

/// query (N, L, E), key and value (N, S, E) to (N, L, E): as PyTorch's with batch_first = true; the axis N may be
/// absent. The state has PyTorch's names: in_proj_weight (3 E, E), in_proj_bias (3 E), out_proj.weight, out_proj.bias;
/// with fewer heads of keys and values in_proj has so many rows less; with a kdim or vdim that is not E, q_proj_weight
/// (E, E), k_proj_weight (E, kdim) and v_proj_weight (E, vdim) take in_proj_weight's place. Starts as there: Glorot for
/// weights, biases 0. Dropout with a generator of the layer's own (set_generator()) keeps all probabilities in memory.
class MultiheadAttention : public Layer<MultiheadAttention> {
 public:
  explicit MultiheadAttention(const MultiheadAttentionOptions& options);
  MultiheadAttention(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttention(MultiheadAttentionOptions{.embed_dim = embed_dim, .num_heads = num_heads}) {}

  /// Self-attention: one product projects q, k and v, and nothing is copied between it and the attention.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;
  /// A step of generation: x (N, L, E) are the positions behind those of `cache`, which gets their keys and values.
  /// They see what is there and, causally, themselves, unless mask.mask, over all S positions of the cache then, says
  /// otherwise; key_padding_mask is (N, S) too.
  Tensor forward(const Tensor& x, KvCache& cache, const AttentionMask& mask = {}) const;
  /// Cross attention in generation: keys and values are projected into `cache` where it is empty, and are those in the
  /// cache where it is not: `key` and `value` are not read again then, and may be undefined.
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, KvCache& cache,
                 const AttentionMask& mask = {}) const;
  /// forward() and the weights, which PyTorch's layer gives for need_weights=True: it keeps all probabilities.
  AttentionOutput forward_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionMask& mask = {},
                                       const AttentionWeightsOptions& options = {}) const;
  MultiheadAttention remake() const { return MultiheadAttention(options_); }
  using Layer<MultiheadAttention>::operator();
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const {
    const auto call = [&](const Tensor& q, const Tensor& k, const Tensor& v) { return forward(q, k, v, mask); };
    return in_layer(*this, call, query, key, value);
  }
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const {
    return in_layer(
        *this, [&](const Tensor& given) { return forward(given, mask); }, x);
  }
  Tensor operator()(const Tensor& x, KvCache& cache, const AttentionMask& mask = {}) const {
    return in_layer(
        *this, [&](const Tensor& given) { return forward(given, cache, mask); }, x);
  }
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, KvCache& cache,
                    const AttentionMask& mask = {}) const {
    const auto call = [&](const Tensor& q, const Tensor& k, const Tensor& v) { return forward(q, k, v, cache, mask); };
    return in_layer(*this, call, query, key, value);
  }

 private:
  void check(const Tensor& x, int64_t part) const;
  int64_t depth() const { return options_.embed_dim / options_.num_heads; }
  /// Projection number `part` of `x`, by heads: (N, heads, L, D).
  Tensor projected(const Tensor& x, int64_t part) const;
  /// The same, rotated where the layer does.
  Tensor rotated(const Tensor& x, int64_t part, int64_t position) const;
  /// Attention between projections, merged and projected. The weights of each head too where `weights` is not null.
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask,
                Tensor* weights = nullptr) const;
  /// `k` with the parameter and the zeros behind it.
  Tensor with_extra_keys(const Tensor& k, const Tensor& bias) const;
  /// `mask` for `rows` queries and `columns` keys, as the functions take it, with columns for what with_extra_keys()
  /// adds.
  AttentionOptions attention_options(const AttentionMask& mask, int64_t rows, int64_t columns) const;
  /// scaled_dot_product_attention that keeps its probabilities.
  AttentionOutput attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                         const AttentionOptions& options) const;
  double dropout() const { return is_training() ? options_.dropout : 0.0; }
  /// Keys and values behind those that x gives.
  int64_t extra_keys() const { return int64_t{options_.add_bias_kv} + int64_t{options_.add_zero_attn}; }

  MultiheadAttentionOptions options_;
  Tensor in_proj_weight_;
  std::array<Tensor, 3> proj_weights_;  // of queries, keys and values, where they are parameters of their own
  Tensor in_proj_bias_;
  Tensor bias_k_, bias_v_;
  Linear out_proj_;
};

}  // namespace weft::nn
