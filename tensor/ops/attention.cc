#include "tensor/ops/attention.h"

#include <cmath>

#include "tensor/core/random.h"
#include "tensor/kernels/cpu/rowwise/attention.h"
#include "tensor/op.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/view.h"

namespace weft {
namespace cpu = kernels::cpu;
namespace {

void check_floating(const Tensor& x) { check_dtype(x, is_floating(x.dtype()), "floating dtypes"); }

Shape batch_of(const Tensor& x) { return Shape(x.shape().begin(), x.shape().end() - 2); }

Shape with(Shape batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) { return x.shape() == shape ? x : broadcast(x, shape); }

/// The mask as the ops take it. DtypeError or ShapeError where it does not fit.
Tensor mask_of(const AttentionOptions& options, const Shape& scores, DType dtype) {
  const Tensor& mask = options.mask;
  if (!mask.defined()) return mask;
  if (options.causal) throw Error("there is a mask and `causal`; give one of them");
  if (mask.dtype() != boolean && mask.dtype() != dtype)
    throw DtypeError(text("the mask must be bool or ", dtype, ", not ", mask.dtype()));
  bool fits = mask.rank() <= scores.rank();
  for (int64_t i = 1; fits && i <= mask.rank(); ++i)
    fits = mask.size(-i) == 1 || mask.size(-i) == scores[scores.size() - static_cast<size_t>(i)];
  if (!fits) throw ShapeError(text("the mask must broadcast to ", scores, ", not be ", mask.shape()));
  return broadcast_to(mask, scores);
}

/// `rows` of `columns` probabilities: what the dropout draws.
AttentionSetting setting_of(const AttentionOptions& options, int64_t depth, int64_t rows, int64_t columns) {
  const double p = options.dropout_p;
  if (!(p >= 0.0 && p <= 1.0)) throw Error(text("dropout_p = ", p, " must lie between 0 and 1"));
  const double scale = options.scale ? *options.scale : depth == 0 ? 1.0 : 1.0 / std::sqrt(static_cast<double>(depth));
  AttentionSetting setting{options.causal, scale, p, 0, 0};
  if (p == 0) return setting;
  const RandomKey key = next_random_key(checked_multiply(rows, (columns + 3) / 4 * 4));
  setting.seed = key.seed;
  setting.offset = key.offset;
  return setting;
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
  Frame frame("scaled_dot_product_attention", q, k, v);
  for (const Tensor* x : {&q, &k, &v}) {
    check_floating(*x);
    if (x->rank() < 2) throw ShapeError(text("q, k and v need two axes or more, not ", x->shape()));
    if (x->dtype() != q.dtype()) throw DtypeError(text("dtypes differ: ", q.dtype(), " and ", x->dtype()));
  }
  if (q.size(-1) != k.size(-1)) throw ShapeError(text("q and k differ in depth: ", q.size(-1), " and ", k.size(-1)));
  if (k.size(-2) != v.size(-2)) throw ShapeError(text("k and v differ in length: ", k.size(-2), " and ", v.size(-2)));
  const Shape batch = broadcast_shapes(broadcast_shapes(batch_of(q), batch_of(k)), batch_of(v));
  const int64_t rows = q.size(-2), columns = k.size(-2);
  const Tensor mask = mask_of(options, with(batch, rows, columns), q.dtype());
  const op::Attention op{setting_of(options, q.size(-1), checked_numel(with(batch, rows, 1)), columns)};
  return apply(op, broadcast_to(q, with(batch, rows, q.size(-1))), broadcast_to(k, with(batch, columns, k.size(-1))),
               broadcast_to(v, with(batch, columns, v.size(-1))), mask)[0];
}

Tensor packed_attention(const Tensor& qkv, int64_t heads, const AttentionOptions& options) {
  Frame frame("packed_attention", qkv);
  check_floating(qkv);
  if (qkv.rank() < 2) throw ShapeError("qkv must be (..., T, 3 heads D)");
  if (heads < 1 || qkv.size(-1) % (3 * heads) != 0)
    throw ShapeError(
        text("the last axis, of ", qkv.size(-1), ", does not divide into q, k and v of ", heads, " heads"));
  const int64_t rows = qkv.size(-2);
  Shape batch = batch_of(qkv);
  batch.push_back(heads);
  const Tensor mask = mask_of(options, with(batch, rows, rows), qkv.dtype());
  const int64_t depth = qkv.size(-1) / (3 * heads);
  const op::PackedAttention op{heads, setting_of(options, depth, checked_numel(with(batch, rows, 1)), rows)};
  return apply(op, qkv, mask)[0];
}

std::string attribute_text(const AttentionSetting& s) {
  return text("causal=", s.causal ? "true" : "false", ", scale=", s.scale, ", dropout_p=", s.dropout_p);
}

namespace op {
namespace {

cpu::AttentionForm form_of(const AttentionSetting& s) {
  return {s.causal, s.scale, s.dropout_p, RandomKey{s.seed, s.offset}};
}

/// (batch..., T, 1) of what probabilities are computed in.
Spec rows_spec(Shape batch, int64_t rows, DType dtype) {
  return spec_of(with(std::move(batch), rows, 1), dtype == f64 ? f64 : f32);
}

/// `shape` in the order of `like`: heads inside of positions where they are so there.
Spec ordered_spec(const Shape& shape, const Tensor& like) {
  const View& view = like.layout();
  const bool inside = shape.rank() >= 3 && view.stride(-3) < view.stride(-2);
  if (!inside) return spec_of(shape, like.dtype());
  Shape turned = shape;
  std::swap(turned[shape.size() - 3], turned[shape.size() - 2]);
  return {View::contiguous(turned).transpose(-3, -2), like.dtype()};
}

/// One of the `parts` tensors that lie side by side in x (..., T, parts heads D), as (..., heads, T, D).
View part_of(const View& x, int64_t parts, int64_t heads, int64_t part) {
  const View split = *x.unflatten(-1, {parts, heads, x.dim(-1) / (parts * heads)});
  return split.select(-3, part)->transpose(-3, -2);
}

}  // namespace

std::array<Spec, 3> Attention::infer(const Tensor& q, const Tensor&, const Tensor& v, const Tensor&) const {
  const Spec rows = rows_spec(batch_of(q), q.size(-2), q.dtype());
  return {ordered_spec(with(batch_of(q), q.size(-2), v.size(-1)), q), rows, rows};
}
void Attention::run(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                    std::array<Tensor, 3>& out) const {
  const OptionalOperand seen(mask);
  cpu::attention({operand(q), operand(k), operand(v), seen.get()}, form_of(setting), operand(out[0]),
                 {operand(out[1]), operand(out[2])});
}

std::array<Spec, 3> AttentionBackward::infer(const Tensor&, const Tensor& q, const Tensor& k, const Tensor& v,
                                             const Tensor&, const Tensor&, const Tensor&) const {
  return {ordered_spec(q.shape(), q), ordered_spec(k.shape(), k), ordered_spec(v.shape(), v)};
}
void AttentionBackward::run(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                            const Tensor& largest, const Tensor& factor, std::array<Tensor, 3>& out) const {
  const OptionalOperand seen(mask);
  cpu::attention_backward(operand(g), {operand(q), operand(k), operand(v), seen.get()}, form_of(setting),
                          {operand(largest), operand(factor)}, {operand(out[0]), operand(out[1]), operand(out[2])});
}

std::array<Spec, 3> PackedAttention::infer(const Tensor& qkv, const Tensor&) const {
  Shape batch = batch_of(qkv);
  const Spec out = spec_of(with(batch, qkv.size(-2), qkv.size(-1) / 3), qkv.dtype());
  batch.push_back(heads);
  const Spec rows = rows_spec(batch, qkv.size(-2), qkv.dtype());
  return {out, rows, rows};
}
void PackedAttention::run(const Tensor& qkv, const Tensor& mask, std::array<Tensor, 3>& out) const {
  const OptionalOperand seen(mask);
  const auto part = [&](int64_t i) { return part_of(qkv.layout(), 3, heads, i); };
  const View q = part(0), k = part(1), v = part(2), y = part_of(out[0].layout(), 1, heads, 0);
  void* data = qkv.body().storage->data();
  cpu::attention({{data, &q, qkv.dtype()}, {data, &k, qkv.dtype()}, {data, &v, qkv.dtype()}, seen.get()},
                 form_of(setting), {out[0].body().storage->data(), &y, qkv.dtype()},
                 {operand(out[1]), operand(out[2])});
}

Spec PackedAttentionBackward::infer(const Tensor&, const Tensor& qkv, const Tensor&, const Tensor&,
                                    const Tensor&) const {
  return spec_of(qkv.shape(), qkv.dtype());
}
void PackedAttentionBackward::run(const Tensor& g, const Tensor& qkv, const Tensor& mask, const Tensor& largest,
                                  const Tensor& factor, Tensor& out) const {
  const OptionalOperand seen(mask);
  const auto part = [&](const Tensor& x, int64_t i) { return part_of(x.layout(), 3, heads, i); };
  const View q = part(qkv, 0), k = part(qkv, 1), v = part(qkv, 2), dq = part(out, 0), dk = part(out, 1),
             dv = part(out, 2), slope = part_of(g.layout(), 1, heads, 0);
  const DType dtype = qkv.dtype();
  void* from = qkv.body().storage->data();
  void* to = out.body().storage->data();
  cpu::attention_backward({g.body().storage->data(), &slope, dtype},
                          {{from, &q, dtype}, {from, &k, dtype}, {from, &v, dtype}, seen.get()}, form_of(setting),
                          {operand(largest), operand(factor)}, {{to, &dq, dtype}, {to, &dk, dtype}, {to, &dv, dtype}});
}

}  // namespace op
}  // namespace weft
