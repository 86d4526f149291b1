#include "tensor/functions/attention.h"

#include <array>
#include <cmath>

#include "tensor/adjoints/attention.h"
#include "tensor/adjoints/dropout.h"
#include "tensor/dispatch/apply_into.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/view.h"
#include "tensor/ops/attention.h"

namespace weft {
namespace {

using op::with;

Shape batch_of(const Tensor& x) { return Shape(x.shape().begin(), x.shape().end() - 2); }

Tensor broadcast_where_needed(const Tensor& x, const Shape& shape) {
  return x.shape() == shape ? x : broadcast(x, shape);
}

/// `rows` of `columns` probabilities: what the dropout draws.
op::AttentionSetting setting_of(const AttentionOptions& options, const Tensor& q, const Tensor& k, const Tensor& v,
                                int64_t rows, int64_t columns) {
  const double p = options.dropout_p;
  const int64_t depth = q.size(-1);
  check_probability("dropout_p =", p);
  const double scale = options.scale ? *options.scale : depth == 0 ? 1.0 : 1.0 / std::sqrt(static_cast<double>(depth));
  op::AttentionSetting setting{options.causal, scale, p, {}};
  Generator& generator = detail::generator_or_default(options.generator);
  if (p != 0) {
    const Device device = dispatch::deepest_device(std::array{q, k, v, options.mask});
    setting.key = internal::dropout_key(device, checked_multiply(rows, (columns + 3) / 4 * 4), generator);
  }
  return setting;
}

/// The queries that share a head of k and v become an axis of their own, along which k and v broadcast.
Tensor grouped_attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options) {
  if (q.rank() < 3 || k.rank() < 3 || v.rank() < 3) throw ShapeError("grouped queries need heads: three axes or more");
  const int64_t heads = q.size(-3), groups = k.size(-3);
  if (groups == 0 || v.size(-3) != groups || heads % groups != 0)
    throw ShapeError(text("the heads of k and v, ", groups, " and ", v.size(-3),
                          ", must be one number that divides the ", heads, " of q"));
  options.enable_gqa = false;
  const Shape parts = {groups, heads / groups};
  Tensor& mask = options.mask;
  if (mask.defined() && mask.rank() > 2) mask = mask.size(-3) == 1 ? unsqueeze(mask, -3) : unflatten(mask, -3, parts);
  return flatten(scaled_dot_product_attention(unflatten(q, -3, parts), unsqueeze(k, -3), unsqueeze(v, -3), options), -4,
                 -3);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
  ErrorFrame frame("scaled_dot_product_attention", q, k, v);
  if (options.enable_gqa) return grouped_attention(q, k, v, options);
  for (const Tensor* x : {&q, &k, &v})
    if (x->rank() < 2) throw ShapeError(text("q, k and v need two axes or more, not ", x->shape()));
  const Shape batch = broadcast_shapes(broadcast_shapes(batch_of(q), batch_of(k)), batch_of(v));
  const int64_t rows = q.size(-2), columns = k.size(-2);
  if (v.size(-2) != columns) throw ShapeError(text("k and v differ in length: ", columns, " and ", v.size(-2)));
  const Tensor mask = internal::attention_mask(options, with(batch, rows, columns));
  const op::Attention op{setting_of(options, q, k, v, checked_numel(with(batch, rows, 1)), columns)};
  return dispatch::apply(op, broadcast_where_needed(q, with(batch, rows, q.size(-1))),
                         broadcast_where_needed(k, with(batch, columns, k.size(-1))),
                         broadcast_where_needed(v, with(batch, columns, v.size(-1))), mask)[0];
}

Tensor packed_attention(const Tensor& qkv, int64_t heads, const AttentionOptions& options) {
  ErrorFrame frame("packed_attention", qkv);
  if (qkv.rank() < 2) throw ShapeError("qkv must be (..., T, 3 heads D)");
  const int64_t columns = qkv.size(-1);
  if (heads < 1 || columns % (3 * heads) != 0)
    throw ShapeError(text("the last axis, of ", columns, ", does not divide into q, k and v of ", heads, " heads"));
  const Tensor split = unflatten(qkv, -1, {3, heads, columns / (3 * heads)});
  const auto part = [&](int64_t i) { return transpose(select(split, -3, i), -3, -2); };
  return flatten(transpose(scaled_dot_product_attention(part(0), part(1), part(2), options), -3, -2), -2, -1);
}

Tensor internal::attention_mask(const AttentionOptions& options, const Shape& scores) {
  const Tensor& mask = options.mask;
  if (!mask.defined()) return mask;
  if (options.causal) throw Error("there is a mask and `causal`; give one of them");
  bool fits = mask.rank() <= scores.rank();
  for (int64_t i = 1; fits && i <= mask.rank(); ++i)
    fits = mask.size(-i) == 1 || mask.size(-i) == scores[scores.size() - static_cast<size_t>(i)];
  if (!fits) throw ShapeError(text("the mask must broadcast to ", scores, ", not be ", mask.shape()));
  return broadcast_where_needed(mask, scores);
}

std::array<Tensor, 3> adjoint::attention_backward(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
                                                  const Tensor& mask, const Tensor& largest, const Tensor& factor,
                                                  const op::AttentionSetting& setting,
                                                  const std::array<Tensor, 3>& into) {
  ErrorFrame frame("attention_backward", g, q, k, v);
  return dispatch::apply_into(op::AttentionBackward{setting}, into, g, q, k, v, mask, largest, factor);
}

}  // namespace weft
