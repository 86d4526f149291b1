#include "nn/layers/attention.h"

#include "nn/init.h"
#include "nn/layers/options.h"
#include "tensor/functions/attention.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

MultiheadAttentionOptions checked(const MultiheadAttentionOptions& o) {
  Frame frame("MultiheadAttention");
  detail::check_positive("embed_dim", o.embed_dim);
  detail::check_positive("num_heads", o.num_heads);
  if (o.embed_dim % o.num_heads != 0)
    throw ShapeError(text("embed_dim ", o.embed_dim, " does not divide into ", o.num_heads, " heads"));
  detail::check_probability("dropout", o.dropout);
  return o;
}

Linear projection(const MultiheadAttentionOptions& o) {
  return Linear({.in_features = o.embed_dim, .out_features = o.embed_dim, .bias = o.bias, .dtype = o.dtype});
}

}  // namespace

MultiheadAttention::MultiheadAttention(const MultiheadAttentionOptions& options)
    : options_(checked(options)), out_proj_(projection(options)) {
  Frame frame("MultiheadAttention");
  const int64_t width = options.embed_dim;
  in_proj_weight_ = register_parameter("in_proj_weight", empty({3 * width, width}, options.dtype));
  init::xavier_uniform(in_proj_weight_);
  if (options.bias) in_proj_bias_ = register_parameter("in_proj_bias", zeros({3 * width}, options.dtype));
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
  return out_proj_(packed_attention(linear(x, in_proj_weight_, in_proj_bias_), options_.num_heads,
                                    {.mask = mask.mask, .causal = mask.causal, .dropout_p = dropout()}));
}

Tensor MultiheadAttention::projected(const Tensor& x, int64_t part) const {
  check(x);
  const int64_t width = options_.embed_dim, heads = options_.num_heads;
  const Tensor bias = in_proj_bias_.defined() ? narrow(in_proj_bias_, 0, part * width, width) : Tensor();
  const Tensor y = linear(x, narrow(in_proj_weight_, 0, part * width, width), bias);
  return transpose(unflatten(y, -1, {heads, width / heads}), -3, -2);
}

Tensor MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const AttentionMask& mask) const {
  if (query.is_same(key) && query.is_same(value)) return forward(query, mask);
  Frame frame("MultiheadAttention", query, key, value);
  const Tensor y = scaled_dot_product_attention(projected(query, 0), projected(key, 1), projected(value, 2),
                                                {.mask = mask.mask, .causal = mask.causal, .dropout_p = dropout()});
  return out_proj_(flatten(transpose(y, -3, -2), -2, -1));
}

}  // namespace weft::nn
