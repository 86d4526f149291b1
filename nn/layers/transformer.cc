#include "nn/layers/transformer.h"

#include "nn/layers/options.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/unary.h"

namespace weft::nn {
namespace {

using Options = TransformerEncoderLayerOptions;

Options checked(const Options& o) {
  Frame frame("TransformerEncoderLayer");
  detail::check_positive("d_model", o.d_model);
  detail::check_positive("nhead", o.nhead);
  detail::check_positive("dim_feedforward", o.dim_feedforward);
  detail::check_probability("dropout", o.dropout);
  detail::check_not_negative("layer_norm_eps", o.layer_norm_eps);
  return o;
}

MultiheadAttention attention(const Options& o) {
  return MultiheadAttention(
      {.embed_dim = o.d_model, .num_heads = o.nhead, .dropout = o.dropout, .bias = o.bias, .dtype = o.dtype});
}

Linear linear(int64_t in, int64_t out, const Options& o) {
  return Linear({.in_features = in, .out_features = out, .bias = o.bias, .dtype = o.dtype});
}

LayerNorm norm(const Options& o) {
  return LayerNorm({.normalized_shape = {o.d_model}, .eps = o.layer_norm_eps, .bias = o.bias, .dtype = o.dtype});
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const Options& o)
    : options_(checked(o)),
      self_attn_(register_module("self_attn", attention(o))),
      linear1_(register_module("linear1", linear(o.d_model, o.dim_feedforward, o))),
      dropout_(register_module("dropout", Dropout(o.dropout))),
      linear2_(register_module("linear2", linear(o.dim_feedforward, o.d_model, o))),
      norm1_(register_module("norm1", norm(o))),
      norm2_(register_module("norm2", norm(o))),
      dropout1_(register_module("dropout1", Dropout(o.dropout))),
      dropout2_(register_module("dropout2", Dropout(o.dropout))) {}

Tensor TransformerEncoderLayer::attend(const Tensor& x, const AttentionMask& mask) const {
  return dropout1_(self_attn_(x, mask));
}

Tensor TransformerEncoderLayer::feed_forward(const Tensor& x) const {
  const Tensor hidden = linear1_(x);
  const Tensor active = options_.activation == Activation::gelu ? gelu(hidden) : relu(hidden);
  return dropout2_(linear2_(dropout_(active)));
}

Tensor TransformerEncoderLayer::forward(const Tensor& x, const AttentionMask& mask) const {
  if (options_.norm_first) {
    const Tensor y = x + attend(norm1_(x), mask);
    return y + feed_forward(norm2_(y));
  }
  const Tensor y = norm1_(x + attend(x, mask));
  return norm2_(y + feed_forward(y));
}

}  // namespace weft::nn
