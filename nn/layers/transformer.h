// Transformer layers and stacks. TransformerEncoderLayer is self-attention followed by a feed-forward network, each
// with a residual connection. TransformerDecoderLayer adds attention to the encoder's output between the two.
// TransformerEncoder, TransformerDecoder and Transformer stack these layers.
#pragma once

#include "nn/layers/attention.h"
#include "nn/layers/containers.h"
#include "nn/layers/dropout.h"
#include "nn/layers/layer_norm.h"
#include "nn/layers/options.h"

namespace weft::nn {

struct TransformerEncoderLayerOptions {
  enum class Activation { relu, gelu };
  int64_t d_model = 0;
  int64_t nhead = 0;
  int64_t dim_feedforward = 2048;
  /// On the attention probabilities, inside the feed-forward network, and on the output of every sub-layer.
  double dropout = 0.1;
  Activation activation = Activation::relu;
  double layer_norm_eps = 1e-5;
  /// Normalizes the input of each sub-layer (pre-norm) instead of the sum after it (post-norm).
  bool norm_first = false;
  bool bias = true;
  int64_t num_kv_heads = 0;                        // of the attention; see MultiheadAttentionOptions
  std::optional<RopeOptions> rope = std::nullopt;  // of the self-attention
  DType dtype = f32;
};

/// x (N, L, d_model) -> the same shape, as PyTorch's with batch_first = true. Submodules have PyTorch's names:
/// self_attn, linear1, linear2, norm1, norm2. It computes x = norm1(x + attention(x)), then x = norm2(x +
/// linear2(activation(linear1(x)))). With norm_first it computes x = x + attention(norm1(x)), and the second part
/// likewise (arXiv 2002.04745).
class TransformerEncoderLayer : public Layer<TransformerEncoderLayer> {
 public:
  using Activation = TransformerEncoderLayerOptions::Activation;
  explicit TransformerEncoderLayer(const TransformerEncoderLayerOptions& options);
  TransformerEncoderLayer(int64_t d_model, int64_t nhead, const TransformerEncoderLayerOptions& options = {})
      : TransformerEncoderLayer(detail::positional(options, &TransformerEncoderLayerOptions::d_model, d_model,
                                                   &TransformerEncoderLayerOptions::nhead, nhead)) {}

  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  /// One generation step; see MultiheadAttention.
  Tensor forward(const Tensor& x, KvCache& cache, const AttentionMask& mask = {}) const;
  TransformerEncoderLayer remake() const { return TransformerEncoderLayer(options_); }
  using Layer<TransformerEncoderLayer>::operator();
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const;
  Tensor operator()(const Tensor& x, KvCache& cache, const AttentionMask& mask = {}) const;

 private:
  /// forward() with `attend` as the self-attention.
  template <class Attend> Tensor around(const Tensor& x, const Attend& attend) const;
  Tensor feed_forward(const Tensor& x) const;

  TransformerEncoderLayerOptions options_;
  MultiheadAttention self_attn_;
  Linear linear1_;
  Dropout dropout_;
  Linear linear2_;
  LayerNorm norm1_;
  LayerNorm norm2_;
  Dropout dropout1_;
  Dropout dropout2_;
};

using TransformerDecoderLayerOptions = TransformerEncoderLayerOptions;

/// The masks of a decoder: which positions of the target (tgt) and of the encoder's output (memory) are hidden.
struct DecoderMask {
  AttentionMask tgt = {};
  AttentionMask memory = {};
};

/// The cached keys and values of a decoder layer: of its own positions (tgt) and of the encoder's output (memory).
struct DecoderCache {
  KvCache tgt, memory;
};

/// tgt (N, T, d_model) and memory (N, S, d_model), the encoder's output -> (N, T, d_model), as PyTorch's with
/// batch_first = true. Submodules have PyTorch's names: self_attn, multihead_attn, linear1, linear2, norm1, norm2,
/// norm3. It computes x = norm1(x + self_attn(x)), x = norm2(x + multihead_attn(x, memory)), x = norm3(x +
/// linear2(activation(linear1(x)))). norm_first is as in TransformerEncoderLayer.
class TransformerDecoderLayer : public Module {
 public:
  using Activation = TransformerDecoderLayerOptions::Activation;
  explicit TransformerDecoderLayer(const TransformerDecoderLayerOptions& options);
  TransformerDecoderLayer(int64_t d_model, int64_t nhead, const TransformerDecoderLayerOptions& options = {})
      : TransformerDecoderLayer(detail::positional(options, &TransformerDecoderLayerOptions::d_model, d_model,
                                                   &TransformerDecoderLayerOptions::nhead, nhead)) {}
  Tensor forward(const Tensor& tgt, const Tensor& memory, const DecoderMask& mask = {}) const;
  /// One generation step: tgt holds the positions after those in `cache`. memory is read only if the cache does not
  /// hold its keys and values yet. See MultiheadAttention.
  Tensor forward(const Tensor& tgt, const Tensor& memory, DecoderCache& cache, const DecoderMask& mask = {}) const;
  TransformerDecoderLayer remake() const { return TransformerDecoderLayer(options_); }
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMask& mask = {}) const;
  Tensor operator()(const Tensor& tgt, const Tensor& memory, DecoderCache& cache, const DecoderMask& mask = {}) const;

 private:
  /// forward() with `own` as the self-attention and `other` as the attention to the encoder's output.
  template <class Own, class Other> Tensor around(const Tensor& tgt, const Own& own, const Other& other) const;
  Tensor feed_forward(const Tensor& x) const;

  TransformerDecoderLayerOptions options_;
  MultiheadAttention self_attn_, multihead_attn_;
  Linear linear1_;
  Dropout dropout_;
  Linear linear2_;
  LayerNorm norm1_, norm2_, norm3_;
  Dropout dropout1_, dropout2_, dropout3_;
};

struct TransformerStackOptions {
  TransformerEncoderLayerOptions layer = {};
  int64_t num_layers = 6;
  bool norm = false;  // adds a layer norm after the last layer
};

/// A stack of num_layers encoder layers with separate parameters: layers.0, layers.1, ..., norm. Each layer is
/// initialized independently; PyTorch's are copies of one layer.
class TransformerEncoder : public Layer<TransformerEncoder> {
 public:
  explicit TransformerEncoder(const TransformerStackOptions& options);
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  /// One generation step, for a causal stack. `caches` must be empty at first; it then gets one cache per layer.
  Tensor forward(const Tensor& x, std::vector<KvCache>& caches, const AttentionMask& mask = {}) const;
  TransformerEncoder remake() const { return TransformerEncoder(options_); }
  using Layer<TransformerEncoder>::operator();
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const;
  Tensor operator()(const Tensor& x, std::vector<KvCache>& caches, const AttentionMask& mask = {}) const;

 private:
  TransformerStackOptions options_;
  ModuleList<TransformerEncoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};

/// A stack of num_layers decoder layers that attend to the same memory, initialized as in TransformerEncoder.
class TransformerDecoder : public Module {
 public:
  explicit TransformerDecoder(const TransformerStackOptions& options);
  Tensor forward(const Tensor& tgt, const Tensor& memory, const DecoderMask& mask = {}) const;
  /// One generation step. `caches` must be empty at first; it then gets one cache per layer.
  Tensor forward(const Tensor& tgt, const Tensor& memory, std::vector<DecoderCache>& caches,
                 const DecoderMask& mask = {}) const;
  TransformerDecoder remake() const { return TransformerDecoder(options_); }
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMask& mask = {}) const;
  Tensor operator()(const Tensor& tgt, const Tensor& memory, std::vector<DecoderCache>& caches,
                    const DecoderMask& mask = {}) const;

 private:
  TransformerStackOptions options_;
  ModuleList<TransformerDecoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};

struct TransformerOptions {
  TransformerEncoderLayerOptions layer = {.d_model = 512, .nhead = 8};
  int64_t num_encoder_layers = 6;
  int64_t num_decoder_layers = 6;
};

/// The masks: src for the encoder's self-attention, tgt for the decoder's self-attention, memory for the decoder's
/// attention to the encoder's output.
struct TransformerMask {
  AttentionMask src = {};
  AttentionMask tgt = {};
  AttentionMask memory = {};
};

/// src (N, S, d_model) and tgt (N, T, d_model) -> (N, T, d_model): an encoder and a decoder, each with a layer norm
/// after the last layer (Vaswani et al., arXiv 1706.03762). As in PyTorch, weights with two axes are initialized with
/// Glorot's values.
class Transformer : public Module {
 public:
  explicit Transformer(const TransformerOptions& options = {});
  Tensor forward(const Tensor& src, const Tensor& tgt, const TransformerMask& mask = {}) const;
  Transformer remake() const { return Transformer(options_); }
  /// The two stacks, for generation: `decoder()(tgt, encoder()(src), caches)`.
  const TransformerEncoder& encoder() const { return encoder_; }
  const TransformerDecoder& decoder() const { return decoder_; }
  Tensor operator()(const Tensor& src, const Tensor& tgt, const TransformerMask& mask = {}) const;

 private:
  TransformerOptions options_;
  TransformerEncoder encoder_;
  TransformerDecoder decoder_;
};

}  // namespace weft::nn
