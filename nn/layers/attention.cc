#include "nn/layers/attention.h"

#include <algorithm>
#include <limits>

#include "nn/init.h"
#include "nn/layers/option_list.h"
#include "nn/layers/options.h"
#include "tensor/functions/attention.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

MultiheadAttentionOptions checked(MultiheadAttentionOptions o) {
  Frame frame("MultiheadAttention");
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
  detail::check_probability("dropout", o.dropout);
  return o;
}

std::string described(const MultiheadAttentionOptions& o) {
  detail::OptionList out;
  out.add("embed_dim", o.embed_dim).add("num_heads", o.num_heads).add_unless(0.0, "dropout", o.dropout);
  out.add_unless(o.num_heads, "num_kv_heads", o.num_kv_heads).add_unless(true, "bias", o.bias);
  if (o.rope) out.add("rope", o.rope->base);
  return out.line();
}

Linear projection(const MultiheadAttentionOptions& o) {
  return Linear({.in_features = o.embed_dim, .out_features = o.embed_dim, .bias = o.bias, .dtype = o.dtype});
}

/// `mask` without padding, which becomes a part of its mask, for scores of (batch..., rows, columns).
AttentionMask with_padding(const AttentionMask& mask, int64_t rows, int64_t columns) {
  const Tensor& padding = mask.key_padding_mask;
  if (!padding.defined()) return mask;
  if (padding.dtype() != boolean) throw DtypeError(text("key_padding_mask must be bool, not ", padding.dtype()));
  if (padding.rank() == 0 || padding.size(-1) != columns)
    throw ShapeError(text("key_padding_mask must be (N, ", columns, "), not ", padding.shape()));
  if (mask.causal && mask.mask.defined()) throw Error("there is a mask and `causal`; give one of them");
  const Tensor padded = unsqueeze(unsqueeze(padding, -2), -2);  // (N, 1, 1, S)
  Tensor seen = logical_not(padded);
  if (mask.causal) {
    const int64_t more = std::max<int64_t>(columns - rows, 0);
    const Tensor row = unsqueeze(arange(more, more + rows, 1, i64, padding.device()), 1);
    seen = logical_and(seen, row >= arange(0, columns, 1, i64, padding.device()));
  } else if (mask.mask.defined()) {
    const Tensor& given = mask.mask;
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    seen = given.dtype() == boolean ? logical_and(seen, given) : where(padded, full_like(given, kHidden), given);
  }
  return {.mask = seen};
}

}  // namespace

MultiheadAttention::MultiheadAttention(const MultiheadAttentionOptions& options)
    : options_(checked(options)), out_proj_(projection(options)) {
  Frame frame("MultiheadAttention");
  describe(described(options_));
  const int64_t width = options_.embed_dim, rows = width + 2 * options_.num_kv_heads * depth();
  in_proj_weight_ = register_parameter("in_proj_weight", empty({rows, width}, options.dtype));
  init::xavier_uniform(in_proj_weight_);
  if (options.bias) in_proj_bias_ = register_parameter("in_proj_bias", zeros({rows}, options.dtype));
  out_proj_ = register_module("out_proj", std::move(out_proj_));
  if (options.bias) init::constant(out_proj_.bias(), 0);
}

void MultiheadAttention::check(const Tensor& x) const {
  if (x.rank() < 2 || x.size(-1) != options_.embed_dim)
    throw ShapeError(text("the inputs must be (N, L, ", options_.embed_dim, "), not ", x.shape()));
}

Tensor MultiheadAttention::forward(const Tensor& x, const AttentionMask& mask) const {
  Frame frame("MultiheadAttention", x);
  check(x);
  if (options_.rope || options_.num_kv_heads != options_.num_heads)
    return attend(placed(x, 0, 0), placed(x, 1, 0), projected(x, 2), mask);
  const AttentionMask whole = with_padding(mask, x.size(-2), x.size(-2));
  return out_proj_(packed_attention(linear(x, in_proj_weight_, in_proj_bias_), options_.num_heads,
                                    {.mask = whole.mask, .causal = whole.causal, .dropout_p = dropout()}));
}

Tensor MultiheadAttention::projected(const Tensor& x, int64_t part) const {
  check(x);
  const int64_t heads = part == 0 ? options_.num_heads : options_.num_kv_heads, width = heads * depth();
  const int64_t first = part == 0 ? 0 : options_.embed_dim + (part - 1) * width;
  const Tensor bias = in_proj_bias_.defined() ? narrow(in_proj_bias_, 0, first, width) : Tensor();
  const Tensor y = linear(x, narrow(in_proj_weight_, 0, first, width), bias);
  return transpose(unflatten(y, -1, {heads, depth()}), -3, -2);
}

Tensor MultiheadAttention::placed(const Tensor& x, int64_t part, int64_t position) const {
  const Tensor y = projected(x, part);
  if (!options_.rope) return y;
  RopeOptions rotation = *options_.rope;
  rotation.offset += position;
  return rope(y, rotation);
}

Tensor MultiheadAttention::attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask) const {
  const AttentionMask whole = with_padding(mask, q.size(-2), k.size(-2));
  AttentionOptions options{.mask = whole.mask, .causal = whole.causal, .dropout_p = dropout()};
  const int64_t groups = options_.num_kv_heads, shared = options_.num_heads / groups;
  if (shared == 1) return out_proj_(flatten(transpose(scaled_dot_product_attention(q, k, v, options), -3, -2), -2, -1));
  // The queries that share a key are an axis of their own, along which keys and values broadcast.
  Tensor& m = options.mask;
  if (m.defined() && m.rank() > 2) m = m.size(-3) == 1 ? unsqueeze(m, -3) : unflatten(m, -3, {groups, shared});
  const Tensor y =
      scaled_dot_product_attention(unflatten(q, -3, {groups, shared}), unsqueeze(k, -3), unsqueeze(v, -3), options);
  return out_proj_(flatten(transpose(flatten(y, -4, -3), -3, -2), -2, -1));
}

Tensor MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const AttentionMask& mask) const {
  if (query.is_same(key) && query.is_same(value)) return forward(query, mask);
  Frame frame("MultiheadAttention", query, key, value);
  if (options_.rope) throw Error("positions are rotated in self-attention only");
  return attend(projected(query, 0), projected(key, 1), projected(value, 2), mask);
}

Tensor MultiheadAttention::forward(const Tensor& x, KvCache& cache) const {
  Frame frame("MultiheadAttention", x);
  if (x.rank() != 3) throw ShapeError(text("the input must be (N, L, ", options_.embed_dim, "), not ", x.shape()));
  const int64_t position = cache.length();
  const Tensor q = placed(x, 0, position);
  cache.append(placed(x, 1, position), projected(x, 2));
  return attend(q, cache.keys(), cache.values(), {.causal = true});
}

}  // namespace weft::nn
