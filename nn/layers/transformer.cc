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
  ErrorFrame frame(name);
  detail::check_positive("d_model", o.d_model);
  detail::check_positive("nhead", o.nhead);
  detail::check_positive("dim_feedforward", o.dim_feedforward);
  detail::check_probability("dropout", o.dropout);
  detail::check_not_negative("layer_norm_eps", o.layer_norm_eps);
  return o;
}

MultiheadAttention attention(const Options& o, const std::optional<RopeOptions>& rope) {
  return MultiheadAttention({.embed_dim = o.d_model,
                             .num_heads = o.nhead,
                             .dropout = o.dropout,
                             .bias = o.bias,
                             .num_kv_heads = o.num_kv_heads,
                             .rope = rope,
                             .dtype = o.dtype});
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

/// The feed-forward part. Each tensor is freed as soon as the next one exists: the temporaries of a single expression
/// would all live until its end.
Tensor fed_forward(Tensor x, const Linear& first, const Dropout& dropout, const Linear& second, const Options& o) {
  x = first(x);
  x = o.activation == Options::Activation::gelu ? gelu(x) : relu(std::move(x));
  x = dropout(x);
  return second(x);
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const Options& o)
    : options_(checked(o, "TransformerEncoderLayer")),
      self_attn_(register_module("self_attn", attention(o, o.rope))),
      linear1_(register_module("linear1", linear(o.d_model, o.dim_feedforward, o))),
      dropout_(register_module("dropout", Dropout(o.dropout))),
      linear2_(register_module("linear2", linear(o.dim_feedforward, o.d_model, o))),
      norm1_(register_module("norm1", norm(o))),
      norm2_(register_module("norm2", norm(o))),
      dropout1_(register_module("dropout1", Dropout(o.dropout))),
      dropout2_(register_module("dropout2", Dropout(o.dropout))) {
  describe(described(o));
}

Tensor TransformerEncoderLayer::feed_forward(const Tensor& x) const {
  return dropout2_(fed_forward(x, linear1_, dropout_, linear2_, options_));
}

template <class Attend> Tensor TransformerEncoderLayer::around(const Tensor& x, const Attend& attend) const {
  if (options_.norm_first) {
    const Tensor y = x + dropout1_(attend(norm1_(x)));
    return y + feed_forward(norm2_(y));
  }
  const Tensor y = norm1_(x + dropout1_(attend(x)));
  return norm2_(y + feed_forward(y));
}

Tensor TransformerEncoderLayer::forward(const Tensor& x, const AttentionMask& mask) const {
  return around(x, [&](const Tensor& y) { return self_attn_(y, mask); });
}

Tensor TransformerEncoderLayer::forward(const Tensor& x, KvCache& cache, const AttentionMask& mask) const {
  const KvCacheUndo undo(cache);
  return around(x, [&](const Tensor& y) { return self_attn_(y, cache, mask); });
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerDecoderLayerOptions& o)
    : options_(checked(o, "TransformerDecoderLayer")),
      self_attn_(register_module("self_attn", attention(o, o.rope))),
      multihead_attn_(register_module("multihead_attn", attention(o, std::nullopt))),
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
  return dropout3_(fed_forward(x, linear1_, dropout_, linear2_, options_));
}

template <class Own, class Other>
Tensor TransformerDecoderLayer::around(const Tensor& tgt, const Own& own, const Other& other) const {
  if (options_.norm_first) {
    const Tensor x = tgt + dropout1_(own(norm1_(tgt))), y = x + dropout2_(other(norm2_(x)));
    return y + feed_forward(norm3_(y));
  }
  const Tensor x = norm1_(tgt + dropout1_(own(tgt))), y = norm2_(x + dropout2_(other(x)));
  return norm3_(y + feed_forward(y));
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory, const DecoderMask& mask) const {
  return around(
      tgt, [&](const Tensor& x) { return self_attn_(x, mask.tgt); },
      [&](const Tensor& x) { return multihead_attn_(x, memory, memory, mask.memory); });
}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory, DecoderCache& cache,
                                        const DecoderMask& mask) const {
  KvCacheUndo undo;
  undo.watch(cache.tgt), undo.watch(cache.memory);
  return around(
      tgt, [&](const Tensor& x) { return self_attn_(x, cache.tgt, mask.tgt); },
      [&](const Tensor& x) { return multihead_attn_(x, memory, memory, cache.memory, mask.memory); });
}

namespace {

/// One cache for each layer, made where there is none yet. `name` is the class that errors name.
template <class Cache> std::vector<Cache>& fitted(const char* name, std::vector<Cache>& caches, size_t layers) {
  if (caches.empty()) caches.resize(layers);
  if (caches.size() != layers)
    throw Error(text(name, ": there are ", caches.size(), " caches for ", layers, " layers"));
  return caches;
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerStackOptions& o)
    : options_(o), layers_(register_module("layers", ModuleList<TransformerEncoderLayer>())) {
  ErrorFrame frame("TransformerEncoder");
  detail::check_positive("num_layers", o.num_layers);
  for (int64_t i = 0; i < o.num_layers; ++i) layers_.push_back(TransformerEncoderLayer(o.layer));
  if (o.norm) norm_ = register_module("norm", norm(o.layer));
}

Tensor TransformerEncoder::forward(const Tensor& x, const AttentionMask& mask) const {
  Tensor y = x;
  for (const TransformerEncoderLayer& layer : layers_) y = layer(y, mask);
  return norm_ ? (*norm_)(y) : y;
}

Tensor TransformerEncoder::forward(const Tensor& x, std::vector<KvCache>& caches, const AttentionMask& mask) const {
  auto cache = fitted("TransformerEncoder", caches, layers_.size()).begin();
  KvCacheUndo undo;
  for (KvCache& each : caches) undo.watch(each);
  Tensor y = x;
  for (const TransformerEncoderLayer& layer : layers_) y = layer(y, *cache++, mask);
  return norm_ ? (*norm_)(y) : y;
}

TransformerDecoder::TransformerDecoder(const TransformerStackOptions& o)
    : options_(o), layers_(register_module("layers", ModuleList<TransformerDecoderLayer>())) {
  ErrorFrame frame("TransformerDecoder");
  detail::check_positive("num_layers", o.num_layers);
  for (int64_t i = 0; i < o.num_layers; ++i) layers_.push_back(TransformerDecoderLayer(o.layer));
  if (o.norm) norm_ = register_module("norm", norm(o.layer));
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, const DecoderMask& mask) const {
  Tensor y = tgt;
  for (const TransformerDecoderLayer& layer : layers_) y = layer(y, memory, mask);
  return norm_ ? (*norm_)(y) : y;
}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory, std::vector<DecoderCache>& caches,
                                   const DecoderMask& mask) const {
  auto cache = fitted("TransformerDecoder", caches, layers_.size()).begin();
  KvCacheUndo undo;
  for (DecoderCache& each : caches) undo.watch(each.tgt), undo.watch(each.memory);
  Tensor y = tgt;
  for (const TransformerDecoderLayer& layer : layers_) y = layer(y, memory, *cache++, mask);
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

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const AttentionMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& given) { return forward(given, mask); }, x);
}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, KvCache& cache, const AttentionMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& given) { return forward(given, cache, mask); }, x);
}

Tensor TransformerDecoderLayer::operator()(const Tensor& tgt, const Tensor& memory, const DecoderMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& x, const Tensor& y) { return forward(x, y, mask); }, tgt, memory);
}

Tensor TransformerDecoderLayer::operator()(const Tensor& tgt, const Tensor& memory, DecoderCache& cache,
                                           const DecoderMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& x, const Tensor& y) { return forward(x, y, cache, mask); }, tgt, memory);
}

Tensor TransformerEncoder::operator()(const Tensor& x, const AttentionMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& given) { return forward(given, mask); }, x);
}

Tensor TransformerEncoder::operator()(const Tensor& x, std::vector<KvCache>& caches, const AttentionMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& given) { return forward(given, caches, mask); }, x);
}

Tensor TransformerDecoder::operator()(const Tensor& tgt, const Tensor& memory, const DecoderMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& x, const Tensor& y) { return forward(x, y, mask); }, tgt, memory);
}

Tensor TransformerDecoder::operator()(const Tensor& tgt, const Tensor& memory, std::vector<DecoderCache>& caches,
                                      const DecoderMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& x, const Tensor& y) { return forward(x, y, caches, mask); }, tgt, memory);
}

Tensor Transformer::operator()(const Tensor& src, const Tensor& tgt, const TransformerMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& x, const Tensor& y) { return forward(x, y, mask); }, src, tgt);
}

}  // namespace weft::nn
