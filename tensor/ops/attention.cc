#include "tensor/ops/attention.h"

namespace weft::op {
namespace {

Shape batch_of(const Operand& x) { return Shape(x.shape().begin(), x.shape().end() - 2); }

/// (batch..., T, 1) of what probabilities are computed in.
Spec rows_spec(Shape batch, int64_t rows, DType dtype) {
  return spec_of(with(std::move(batch), rows, 1), dtype == f64 ? f64 : f32);
}

/// `shape` in the order of `like`: heads inside of positions where they are so there.
Spec ordered_spec(const Shape& shape, const Operand& like) {
  const View& view = like.layout();
  const bool inside = shape.rank() >= 3 && view.stride(-3) < view.stride(-2);
  if (!inside) return spec_of(shape, like.dtype);
  Shape turned = shape;
  std::swap(turned[shape.size() - 3], turned[shape.size() - 2]);
  return {View::contiguous(turned).transpose(-3, -2), like.dtype};
}

void check_mask(const Operand& mask, const Shape& scores) {
  if (!mask.defined()) return;
  if (mask.dtype != boolean && !is_floating(mask.dtype))
    throw DtypeError(text("the mask must be bool or floating, not ", mask.dtype));
  if (mask.shape() != scores) throw ShapeError(text("the mask must be ", scores, ", not ", mask.shape()));
}

void check_inputs(const Operand& q, const Operand& k, const Operand& v, const Operand& mask) {
  const int64_t rank = q.rank();
  if (rank < 2 || k.rank() != rank || v.rank() != rank || batch_of(k) != batch_of(q) || batch_of(v) != batch_of(q))
    throw ShapeError(text("q, k and v differ in their batch axes: ", q.shape(), ", ", k.shape(), ", ", v.shape()));
  if (q.size(rank - 1) != k.size(rank - 1))
    throw ShapeError(text("q and k differ in depth: ", q.size(rank - 1), " and ", k.size(rank - 1)));
  if (k.size(rank - 2) != v.size(rank - 2))
    throw ShapeError(text("k and v differ in length: ", k.size(rank - 2), " and ", v.size(rank - 2)));
  check_mask(mask, with(batch_of(q), q.size(rank - 2), k.size(rank - 2)));
}

}  // namespace

Shape with(Shape batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

std::string attribute_text(const AttentionSetting& s) {
  return text("{causal=", s.causal ? "true" : "false", ", scale=", s.scale, ", dropout_p=", s.dropout_p, "}");
}

std::array<Spec, 3> Attention::infer(const Operand& q, const Operand& k, const Operand& v, const Operand& mask) const {
  check_inputs(q, k, v, mask);
  const int64_t length = q.size(q.rank() - 2);
  const Spec rows = rows_spec(batch_of(q), length, q.dtype);
  return {ordered_spec(with(batch_of(q), length, v.size(v.rank() - 1)), q), rows, rows};
}

std::array<Spec, 3> AttentionBackward::infer(const Operand& g, const Operand& q, const Operand& k, const Operand& v,
                                             const Operand& mask, const Operand&, const Operand&) const {
  check_inputs(q, k, v, mask);
  check_gradient(g, with(batch_of(q), q.size(q.rank() - 2), v.size(v.rank() - 1)));
  return {ordered_spec(q.shape(), q), ordered_spec(k.shape(), k), ordered_spec(v.shape(), v)};
}

}  // namespace weft::op
