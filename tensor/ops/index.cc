#include "tensor/ops/index.h"

#include "tensor/kernels/cpu/index/index.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/op.h"
#include "tensor/ops/reduce.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace {

void check_index(const Tensor& index) {
  if (!is_integer(index.dtype()))
    throw DtypeError(text("the indices are ", index.dtype(), "; they must be integers, e.g. x.to(i64)"));
}

/// `shape` with another size on `axis`.
Shape with_size(Shape shape, int64_t axis, int64_t size) {
  shape[static_cast<size_t>(axis)] = size;
  return shape;
}

void check_slices(const Shape& shape, int64_t axis, const Tensor& index) {
  check_index(index);
  if (index.rank() != 1) throw ShapeError(text("the index must have one axis, not shape ", index.shape()));
  (void)normalize_axis(axis, shape.rank());
}

void check_elements(const Shape& shape, int64_t axis, const Tensor& index) {
  check_index(index);
  if (index.rank() != shape.rank())
    throw ShapeError(text("the index has ", index.rank(), " axes, the tensor ", shape.rank()));
  for (int64_t i = 0; i < shape.rank(); ++i)
    if (i != axis && index.size(i) > shape[static_cast<size_t>(i)])
      throw ShapeError(text("the index of shape ", index.shape(), " is larger than ", shape, " on axis ", i));
}

}  // namespace

Tensor gather(const Tensor& x, int64_t axis, const Tensor& index) {
  Frame frame("gather", x, index);
  return apply(op::Gather{normalize_axis(axis, x.rank())}, x, index);
}

Tensor scatter_add(const Tensor& src, int64_t axis, const Tensor& index, const Shape& shape) {
  Frame frame("scatter_add", src, index);
  return apply(op::ScatterAdd{normalize_axis(axis, shape.rank()), shape}, src, index);
}

Tensor index_select(const Tensor& x, int64_t axis, const Tensor& index) {
  Frame frame("index_select", x, index);
  return apply(op::IndexSelect{normalize_axis(axis, x.rank())}, x, index);
}

Tensor index_add(const Tensor& src, int64_t axis, const Tensor& index, const Shape& shape) {
  Frame frame("index_add", src, index);
  return apply(op::IndexAdd{normalize_axis(axis, shape.rank()), shape}, src, index);
}

Tensor embedding(const Tensor& indices, const Tensor& weight, int64_t padding_idx) {
  Frame frame("embedding", indices, weight);
  return apply(op::Embedding{padding_idx}, indices, weight);
}

Tensor embedding_backward(const Tensor& g, const Tensor& indices, int64_t rows, int64_t padding_idx) {
  Frame frame("embedding_backward", g, indices);
  return apply(op::EmbeddingBackward{rows, padding_idx}, g, indices);
}

Tensor one_hot(const Tensor& indices, std::optional<int64_t> classes) {
  Frame frame("one_hot", indices);
  check_index(indices);
  if (!classes && indices.numel() == 0) throw Error("the number of classes of no indices must be given");
  return apply(op::OneHot{classes ? *classes : max(indices).item<int64_t>() + 1}, indices);
}

namespace op {

Spec Gather::infer(const Tensor& x, const Tensor& index) const {
  check_elements(x.shape(), axis, index);
  return spec_of(index.shape(), x.dtype());
}
void Gather::run(const Tensor& x, const Tensor& index, Tensor& out) const {
  cpu::gather(operand(x), operand(index), axis, operand(out));
}

Spec ScatterAdd::infer(const Tensor& src, const Tensor& index) const {
  check_elements(shape, axis, index);
  check_same_shape(src, index);
  return spec_of(shape, src.dtype());
}
void ScatterAdd::run(const Tensor& src, const Tensor& index, Tensor& out) const {
  cpu::fill(operand(out), 0);
  cpu::scatter_add(operand(src), operand(index), axis, operand(out));
}

Spec IndexSelect::infer(const Tensor& x, const Tensor& index) const {
  check_slices(x.shape(), axis, index);
  return spec_of(with_size(x.shape(), axis, index.numel()), x.dtype());
}
void IndexSelect::run(const Tensor& x, const Tensor& index, Tensor& out) const {
  cpu::index_select(operand(x), axis, operand(index), operand(out));
}

Spec IndexAdd::infer(const Tensor& src, const Tensor& index) const {
  check_slices(shape, axis, index);
  const Shape expected = with_size(shape, axis, index.numel());
  if (src.shape() != expected) throw ShapeError(text("the slices must have shape ", expected, ", not ", src.shape()));
  return spec_of(shape, src.dtype());
}
void IndexAdd::run(const Tensor& src, const Tensor& index, Tensor& out) const {
  cpu::fill(operand(out), 0);
  cpu::index_add(operand(src), axis, operand(index), operand(out));
}

Spec Embedding::infer(const Tensor& indices, const Tensor& weight) const {
  check_index(indices);
  if (weight.rank() != 2) throw ShapeError(text("the weight must be (rows, width), not ", weight.shape()));
  if (padding_idx >= weight.size(0))
    throw IndexError(text("padding_idx ", padding_idx, " is out of range for ", weight.size(0), " rows"));
  Shape shape = indices.shape();
  shape.push_back(weight.size(1));
  return spec_of(shape, weight.dtype());
}
void Embedding::run(const Tensor& indices, const Tensor& weight, Tensor& out) const {
  cpu::embedding(operand(indices), operand(weight), operand(out));
}

Spec EmbeddingBackward::infer(const Tensor& g, const Tensor& indices) const {
  check_index(indices);
  Shape expected = indices.shape();
  expected.push_back(g.size(-1));
  if (g.shape() != expected) throw ShapeError(text("the gradient must have shape ", expected, ", not ", g.shape()));
  return spec_of({rows, g.size(-1)}, g.dtype());
}
void EmbeddingBackward::run(const Tensor& g, const Tensor& indices, Tensor& out) const {
  cpu::fill(operand(out), 0);
  cpu::embedding_backward(operand(indices), operand(g), padding_idx, operand(out));
}

Spec OneHot::infer(const Tensor& indices) const {
  check_index(indices);
  if (classes < 1) throw Error(text("the number of classes ", classes, " must be at least 1"));
  Shape shape = indices.shape();
  shape.push_back(classes);
  return spec_of(shape, f32);
}
void OneHot::run(const Tensor& indices, Tensor& out) const { cpu::one_hot(operand(indices), operand(out)); }

}  // namespace op
}  // namespace weft
