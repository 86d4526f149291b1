#include "nn/layers/transformer.h"

#include "nn/init.h"
#include "nn/layers/option_list.h"
#include "nn/layers/options.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/unary.h"

namespace weft::nn {
namespace {

using Options = TransformerEncoderLayerOptions;

Options checked(const Options& o, const char* name) {
  Frame frame(name);
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

std::string described(const Options& o) {
  detail::OptionList out;
  out.add(o.d_model).add(o.nhead).add("dim_feedforward", o.dim_feedforward);
  if (o.activation == Options::Activation::gelu) out.add("activation", "gelu");
  return out.add_unless(false, "norm_first", o.norm_first).line();
}

Tensor activated(const Tensor& x, const Options& o) {
  return o.activation == Options::Activation::gelu ? gelu(x) : relu(x);
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const Options& o)
    : options_(checked(o, "TransformerEncoderLayer")),
      self_attn_(register_module("self_attn", attention(o))),
      linear1_(register_module("linear1", linear(o.d_model, o.dim_feedforward, o))),
      dropout_(register_module("dropout", Dropout(o.dropout))),
      linear2_(register_module("linear2", linear(o.dim_feedforward, o.d_model, o))),
      norm1_(register_module("norm1", norm(o))),
      norm2_(register_module("norm2", norm(o))),
      dropout1_(register_module("dropout1", Dropout(o.dropout))),
      dropout2_(register_module("dropout2", Dropout(o.dropout))) {
  describe(described(o));
}

Tensor TransformerEncoderLayer::attend(const Tensor& x, const AttentionMask& mask) const {
  return dropout1_(self_attn_(x, mask));
}

Tensor TransformerEncoderLayer::feed_forward(const Tensor& x) const {
  return dropout2_(linear2_(dropout_(activated(linear1_(x), options_))));
}

Tensor TransformerEncoderLayer::forward(const Tensor& x, const AttentionMask& mask) const {
  if (options_.norm_first) {
    const Tensor y = x + attend(norm1_(x), mask);
    return y + feed_forward(norm2_(y));
  }
  const Tensor y = norm1_(x + attend(x, mask));
  return norm2_(y + feed_forward(y));
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerDecoderLayerOptions& o)
    : options_(checked(o, "TransformerDecoderLayer")),
      self_attn_(register_module("self_attn", attention(o))),
      multihead_attn_(register_module("multihead_attn", attention(o))),
      linear1_(register_module("linear1", linear(o.d_model, o.dim_feedforward, o))),
      dropout_(register_module("dropout", Dropout(o.dropout))),
      linear2_(register_module("linear2", linear(o.dim_feedforward, o.d_model, o))),
      norm1_(register_module("norm1", norm(o))),
      norm2_(register_module("norm2", norm(o))),
      norm3_(register_module("norm3", norm(o))),
      dropout1_(register_module("dropout1", Dropout(o.dropout))),
      dropout2_(register_module("dropout2", Dropout(o.dropout))),
      dropout3_(register_module("dropout3", Dropout(o.dropout))) {
  describe(described(o));
}

Tensor TransformerDecoderLayer::feed_forward(const Tensor& x) const {
  return dropout3_(linear2_(dropout_(activated(linear1_(x), options_))));
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory, const DecoderMask& mask) const {
  const auto own = [&](const Tensor& x) { return dropout1_(self_attn_(x, mask.tgt)); };
  const auto other = [&](const Tensor& x) { return dropout2_(multihead_attn_(x, memory, memory, mask.memory)); };
  if (options_.norm_first) {
    const Tensor x = tgt + own(norm1_(tgt)), y = x + other(norm2_(x));
    return y + feed_forward(norm3_(y));
  }
  const Tensor x = norm1_(tgt + own(tgt)), y = norm2_(x + other(x));
  return norm3_(y + feed_forward(y));
}

TransformerEncoder::TransformerEncoder(const TransformerStackOptions& o)
    : options_(o), layers_(register_module("layers", ModuleList<TransformerEncoderLayer>())) {
  Frame frame("TransformerEncoder");
  detail::check_positive("num_layers", o.num_layers);
  for (int64_t i = 0; i < o.num_layers; ++i) layers_.push_back(TransformerEncoderLayer(o.layer));
  if (o.norm) norm_ = register_module("norm", norm(o.layer));
}

Tensor TransformerEncoder::forward(const Tensor& x, const AttentionMask& mask) const {
  Tensor y = x;
  for (const TransformerEncoderLayer& layer : layers_) y = layer(y, mask);
  return norm_ ? (*norm_)(y) : y;
}

TransformerDecoder::TransformerDecoder(const TransformerStackOptions& o)
    : options_(o), layers_(register_module("layers", ModuleList<TransformerDecoderLayer>())) {
  Frame frame("TransformerDecoder");
  detail::check_positive("num_layers", o.num_layers);
  for (int64_t i = 0; i < o.num_layers; ++i) layers_.push_back(TransformerDecoderLayer(o.layer));
  if (o.norm) norm_ = register_module("norm", norm(o.layer));
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const DecoderMask& mask) const {
  Tensor y = tgt;
  for (const TransformerDecoderLayer& layer : layers_) y = layer(y, memory, mask);
  return norm_ ? (*norm_)(y) : y;
}

Transformer::Transformer(const TransformerOptions& o)
    : options_(o),
      encoder_(register_module(
          "encoder", TransformerEncoder({.layer = o.layer, .num_layers = o.num_encoder_layers, .norm = true}))),
      decoder_(register_module(
          "decoder", TransformerDecoder({.layer = o.layer, .num_layers = o.num_decoder_layers, .norm = true}))) {
  for (const Tensor& parameter : parameters())
    if (parameter.rank() > 1) init::xavier_uniform(parameter);
}

Tensor Transformer::forward(const Tensor& src, const Tensor& tgt, const TransformerMask& mask) const {
  return decoder_(tgt, encoder_(src, mask.src), {.tgt = mask.tgt, .memory = mask.memory});
}

}  // namespace weft::nn
