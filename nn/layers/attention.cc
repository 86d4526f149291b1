#include "nn/layers/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nn/init.h"
#include "nn/layers/option_list.h"
#include "nn/layers/options.h"
#include "tensor/adjoints/attention.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/dropout.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/tile.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

MultiheadAttentionOptions checked(MultiheadAttentionOptions o) {
  ErrorFrame frame("MultiheadAttention");
  detail::check_positive("embed_dim", o.embed_dim);
  detail::check_positive("num_heads", o.num_heads);
  if (o.embed_dim % o.num_heads != 0)
    throw ShapeError(text("embed_dim ", o.embed_dim, " does not divide into ", o.num_heads, " heads"));
  if (o.num_kv_heads == 0) o.num_kv_heads = o.num_heads;
  detail::check_positive("num_kv_heads", o.num_kv_heads);
  if (o.num_heads % o.num_kv_heads != 0)
    throw ShapeError(text(o.num_heads, " heads do not divide into ", o.num_kv_heads, " of keys and values"));
  if (o.rope && o.embed_dim / o.num_heads % 2 != 0)
    throw ShapeError(text("heads of ", o.embed_dim / o.num_heads, " features cannot be rotated in pairs"));
  for (int64_t* size : {&o.kdim, &o.vdim}) {
    if (*size == 0) *size = o.embed_dim;
    detail::check_positive("kdim and vdim", *size);
  }
  detail::check_probability("dropout", o.dropout);
  return o;
}

std::string described(const MultiheadAttentionOptions& o) {
  detail::OptionList out;
  out.add("embed_dim", o.embed_dim).add("num_heads", o.num_heads).add_unless(0.0, "dropout", o.dropout);
  out.add_unless(o.num_heads, "num_kv_heads", o.num_kv_heads).add_unless(true, "bias", o.bias);
  out.add_unless(false, "add_bias_kv", o.add_bias_kv).add_unless(false, "add_zero_attn", o.add_zero_attn);
  out.add_unless(o.embed_dim, "kdim", o.kdim).add_unless(o.embed_dim, "vdim", o.vdim);
  if (o.rope) out.add("rope", o.rope->base);
  return out.line();
}

Linear projection(const MultiheadAttentionOptions& o) {
  return Linear({.in_features = o.embed_dim, .out_features = o.embed_dim, .bias = o.bias, .dtype = o.dtype});
}

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// (rows, columns), bool: whether a query sees a key in causal attention, where the queries are the last positions.
Tensor causal_mask(int64_t rows, int64_t columns, Device device) {
  const int64_t more = std::max<int64_t>(columns - rows, 0);
  return unsqueeze(arange(more, more + rows, 1, i64, device), 1) >= arange(0, columns, 1, i64, device);
}

/// The sizes of the axes of x but for the last `after`.
Shape leading(const Tensor& x, int64_t after) { return Shape(x.shape().begin(), x.shape().end() - after); }

/// The mask and the padding as one mask of scaled_dot_product_attention: true for visible keys, or added to the scores.
/// It broadcasts to (batch..., heads, rows, columns); `batch` is (N), or empty without a batch.
Tensor seen_of(const AttentionMask& mask, const Shape& batch, int64_t heads, int64_t rows, int64_t columns) {
  Tensor given = mask.mask;
  if (given.defined() && given.dtype() != boolean && !is_floating(given.dtype()))
    throw DtypeError(text("the mask must be bool or floating, not ", given.dtype()));
  if (given.defined() && given.rank() == 3 && given.size(0) > heads && given.size(0) == heads * checked_numel(batch))
    given = unflatten(given, 0, {-1, heads});
  if (given.defined() && given.dtype() == boolean) given = logical_not(given);
  const Tensor& padding = mask.key_padding_mask;
  if (!padding.defined()) return given;
  if (padding.dtype() != boolean) throw DtypeError(text("key_padding_mask must be bool, not ", padding.dtype()));
  Shape keys = batch;
  keys.push_back(columns);
  if (padding.shape() != keys) throw ShapeError(text("key_padding_mask must be ", keys, ", not ", padding.shape()));
  if (mask.causal && given.defined()) throw Error("there is a mask and `causal`; give one of them");
  const Tensor padded = unsqueeze(unsqueeze(padding, -2), -2);  // (N, 1, 1, S)
  if (mask.causal) return logical_and(logical_not(padded), causal_mask(rows, columns, padding.device()));
  if (!given.defined()) return logical_not(padded);
  return given.dtype() == boolean ? logical_and(logical_not(padded), given)
                                  : where(padded, full_like(given, kHidden), given);
}

}  // namespace

MultiheadAttention::MultiheadAttention(const MultiheadAttentionOptions& options)
    : options_(checked(options)), out_proj_(projection(options)) {
  ErrorFrame frame("MultiheadAttention");
  describe(described(options_));
  const int64_t width = options_.embed_dim, kv_width = options_.num_kv_heads * depth(), rows = width + 2 * kv_width;
  if (options_.kdim == width && options_.vdim == width) {
    in_proj_weight_ = register_parameter("in_proj_weight", empty({rows, width}, options.dtype));
    init::xavier_uniform(in_proj_weight_);
  } else {
    const std::array<Shape, 3> shapes = {Shape{width, width}, {kv_width, options_.kdim}, {kv_width, options_.vdim}};
    const char* const names[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
    for (size_t i = 0; i < 3; ++i) {
      proj_weights_[i] = register_parameter(names[i], empty(shapes[i], options.dtype));
      init::xavier_uniform(proj_weights_[i]);
    }
  }
  if (options.bias) in_proj_bias_ = register_parameter("in_proj_bias", zeros({rows}, options.dtype));
  if (options.add_bias_kv) {
    bias_k_ = register_parameter("bias_k", empty({1, 1, kv_width}, options.dtype));
    bias_v_ = register_parameter("bias_v", empty({1, 1, kv_width}, options.dtype));
    init::xavier_normal(bias_k_);
    init::xavier_normal(bias_v_);
  }
  out_proj_ = register_module("out_proj", std::move(out_proj_));
  if (options.bias) init::constant(out_proj_.bias(), 0);
}

void MultiheadAttention::check(const Tensor& x, int64_t part) const {
  const int64_t width = part == 0 ? options_.embed_dim : part == 1 ? options_.kdim : options_.vdim;
  if (x.rank() < 2 || x.size(-1) != width)
    throw ShapeError(text("the inputs must be (N, L, ", width, "), not ", x.shape()));
}

Tensor MultiheadAttention::forward(const Tensor& x, const AttentionMask& mask) const {
  ErrorFrame frame("MultiheadAttention", x);
  check(x, 0);
  const bool plain = in_proj_weight_.defined() && options_.num_kv_heads == options_.num_heads && extra_keys() == 0;
  if (options_.rope || !plain || (has_generator() && dropout() > 0))
    return attend(rotated(x, 0, 0), rotated(x, 1, 0), projected(x, 2), mask);
  return out_proj_(packed_attention(linear(x, in_proj_weight_, in_proj_bias_), options_.num_heads,
                                    attention_options(mask, leading(x, 2), x.size(-2), x.size(-2))));
}

Tensor MultiheadAttention::projected(const Tensor& x, int64_t part) const {
  check(x, part);
  const int64_t heads = part == 0 ? options_.num_heads : options_.num_kv_heads, width = heads * depth();
  const int64_t first = part == 0 ? 0 : options_.embed_dim + (part - 1) * width;
  const Tensor weight =
      in_proj_weight_.defined() ? narrow(in_proj_weight_, 0, first, width) : proj_weights_[static_cast<size_t>(part)];
  const Tensor bias = in_proj_bias_.defined() ? narrow(in_proj_bias_, 0, first, width) : Tensor();
  return transpose(unflatten(linear(x, weight, bias), -1, {heads, depth()}), -3, -2);
}

Tensor MultiheadAttention::rotated(const Tensor& x, int64_t part, int64_t position) const {
  const Tensor y = projected(x, part);
  if (!options_.rope) return y;
  RopeOptions rotation = *options_.rope;
  rotation.offset += position;
  return rope(y, rotation);
}

Tensor MultiheadAttention::with_extra_keys(const Tensor& k, const Tensor& bias) const {
  std::vector<Tensor> parts = {k};
  Shape one = k.shape();
  one[one.size() - 2] = 1;
  // (1, 1, heads D) by heads: (heads, 1, D).
  if (bias.defined())
    parts.push_back(broadcast(transpose(unflatten(reshape(bias, {1, -1}), -1, {-1, depth()}), 0, 1), one));
  if (options_.add_zero_attn) parts.push_back(zeros(one, k.dtype(), k.device()));
  return parts.size() == 1 ? k : cat(parts, -2);
}

AttentionOptions MultiheadAttention::attention_options(const AttentionMask& mask, const Shape& batch, int64_t rows,
                                                       int64_t columns) const {
  AttentionOptions out{.mask = seen_of(mask, batch, options_.num_heads, rows, columns), .dropout_p = dropout()};
  out.causal = mask.causal && !(out.mask.defined() && mask.key_padding_mask.defined());
  if (extra_keys() == 0) return out;
  if (out.causal && !out.mask.defined())
    out.mask = causal_mask(rows, columns, out_proj_.weight().device()), out.causal = false;
  if (!out.mask.defined()) return out;
  // All queries see the keys that are added.
  const Tensor& m = out.mask;
  Shape more = m.shape();
  more[more.size() - 1] = extra_keys();
  if (m.size(-1) != columns) throw ShapeError(text("the mask must have ", columns, " columns, not be ", m.shape()));
  out.mask = cat({m, full(more, m.dtype() == boolean ? 1 : 0, m.dtype(), m.device())}, -1);
  return out;
}

AttentionOutput MultiheadAttention::attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                                           const AttentionOptions& options) const {
  Tensor scores = matmul(q * (1 / std::sqrt(static_cast<double>(depth()))), transpose(k, -2, -1));
  Tensor sees = internal::attention_mask(options, scores.shape());
  if (options.causal) sees = causal_mask(scores.size(-2), scores.size(-1), q.device());
  Tensor p;
  if (sees.defined()) {
    scores = sees.dtype() == boolean ? where(sees, scores, full_like(scores, kHidden)) : scores + sees;
    // A row that sees nothing is zero, as in scaled_dot_product_attention.
    const Tensor nothing = all(scores == kHidden, -1, keepdim);
    p = where(nothing, zeros_like(scores), softmax(where(nothing, zeros_like(scores), scores), -1));
  } else {
    p = softmax(scores, -1);
  }
  if (options.dropout_p > 0) p = weft::dropout(p, options.dropout_p, generator());
  return {matmul(p, v), p};
}

Tensor MultiheadAttention::attend(const Tensor& q, const Tensor& given_k, const Tensor& given_v,
                                  const AttentionMask& mask, Tensor* weights) const {
  const Shape batch = leading(q, 3);
  for (const Tensor* x : {&given_k, &given_v})
    if (leading(*x, 3) != batch)
      throw ShapeError(text("queries, keys and values have one N or all none, not the batch axes ", batch, ", ",
                            leading(given_k, 3), " and ", leading(given_v, 3)));
  AttentionOptions options = attention_options(mask, batch, q.size(-2), given_k.size(-2));
  const Tensor k = with_extra_keys(given_k, bias_k_), v = with_extra_keys(given_v, bias_v_);
  const auto run = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
    if (weights == nullptr && !(has_generator() && options.dropout_p > 0))
      return scaled_dot_product_attention(a, b, c, options);
    const int64_t shared = options_.num_heads / options_.num_kv_heads;
    const auto of_all_heads = [&](const Tensor& x) { return shared == 1 ? x : repeat_interleave(x, shared, -3); };
    const AttentionOutput all = attention_with_weights(a, of_all_heads(b), of_all_heads(c), options);
    if (weights != nullptr) *weights = all.weights;
    return all.output;
  };
  options.enable_gqa = options_.num_kv_heads != options_.num_heads;
  return out_proj_(flatten(transpose(run(q, k, v), -3, -2), -2, -1));
}

Tensor MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const AttentionMask& mask) const {
  if (query.is_same(key) && query.is_same(value)) return forward(query, mask);
  ErrorFrame frame("MultiheadAttention", query, key, value);
  if (options_.rope) throw Error("positions are rotated in self-attention only");
  return attend(projected(query, 0), projected(key, 1), projected(value, 2), mask);
}

AttentionOutput MultiheadAttention::forward_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                                         const AttentionMask& mask,
                                                         const AttentionWeightsOptions& options) const {
  ErrorFrame frame("MultiheadAttention", query, key, value);
  if (options_.rope && !(query.is_same(key) && query.is_same(value)))
    throw Error("positions are rotated in self-attention only");
  Tensor weights;
  const Tensor y = attend(rotated(query, 0, 0), rotated(key, 1, 0), projected(value, 2), mask, &weights);
  return {y, options.average ? mean(weights, -3) : weights};
}

Tensor MultiheadAttention::forward(const Tensor& x, KvCache& cache, const AttentionMask& mask) const {
  ErrorFrame frame("MultiheadAttention", x);
  if (x.rank() != 3) throw ShapeError(text("the input must be (N, L, ", options_.embed_dim, "), not ", x.shape()));
  const KvCacheUndo undo(cache);
  const int64_t position = cache.length();
  const Tensor q = rotated(x, 0, position);
  cache.append(rotated(x, 1, position), projected(x, 2));
  AttentionMask all = mask;
  if (!mask.mask.defined()) all.causal = true;
  return attend(q, cache.keys(), cache.values(), all);
}

Tensor MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value, KvCache& cache,
                                   const AttentionMask& mask) const {
  ErrorFrame frame("MultiheadAttention", query);
  if (options_.rope) throw Error("positions are rotated in self-attention only");
  if (query.rank() != 3)
    throw ShapeError(text("the query must be (N, L, ", options_.embed_dim, "), not ", query.shape()));
  const KvCacheUndo undo(cache);
  if (cache.length() == 0) {
    if (!key.defined() || !value.defined()) throw Error("the cache is empty: key and value must be given");
    cache.append(projected(key, 1), projected(value, 2));
  }
  return attend(projected(query, 0), cache.keys(), cache.values(), mask);
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const AttentionMask& mask) const {
  const auto call = [&](const Tensor& q, const Tensor& k, const Tensor& v) { return forward(q, k, v, mask); };
  return in_layer(*this, call, query, key, value);
}

Tensor MultiheadAttention::operator()(const Tensor& x, const AttentionMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& given) { return forward(given, mask); }, x);
}

Tensor MultiheadAttention::operator()(const Tensor& x, KvCache& cache, const AttentionMask& mask) const {
  return in_layer(
      *this, [&](const Tensor& given) { return forward(given, cache, mask); }, x);
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value, KvCache& cache,
                                      const AttentionMask& mask) const {
  const auto call = [&](const Tensor& q, const Tensor& k, const Tensor& v) { return forward(q, k, v, cache, mask); };
  return in_layer(*this, call, query, key, value);
}

}  // namespace weft::nn
