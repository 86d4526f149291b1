// TransformerEncoderLayer: self-attention and a feed-forward network, each with a residual path.
#pragma once

#include "nn/layers/attention.h"
#include "nn/layers/dropout.h"
#include "nn/layers/norm.h"

namespace weft::nn {

struct TransformerEncoderLayerOptions {
  enum class Activation { relu, gelu };
  int64_t d_model = 0;
  int64_t nhead = 0;
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;  // of the attention probabilities, inside of the feed-forward network and after both parts
  Activation activation = Activation::relu;
  double layer_norm_eps = 1e-5;
  bool norm_first = false;  // norms before the two parts instead of after the sums
  bool bias = true;
  DType dtype = f32;
};

/// x (N, L, d_model) to the same shape, as PyTorch's with batch_first = true and under its names: self_attn, linear1,
/// linear2, norm1, norm2. x = norm1(x + attention(x)), x = norm2(x + linear2(activation(linear1(x)))); with norm_first
/// x = x + attention(norm1(x)) and so on (arXiv 2002.04745).
class TransformerEncoderLayer : public Layer<TransformerEncoderLayer> {
 public:
  using Activation = TransformerEncoderLayerOptions::Activation;
  explicit TransformerEncoderLayer(const TransformerEncoderLayerOptions& options);

  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  using Layer<TransformerEncoderLayer>::operator();
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const {
    return in_layer(*this, x, [&] { return forward(x, mask); });
  }

 private:
  Tensor attend(const Tensor& x, const AttentionMask& mask) const;
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

}  // namespace weft::nn
