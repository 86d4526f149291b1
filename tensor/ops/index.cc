#include "tensor/ops/index.h"

namespace weft::op {
namespace {

/// `shape` with another size on `axis`.
Shape with_size(Shape shape, int64_t axis, int64_t size) {
  shape[static_cast<size_t>(axis)] = size;
  return shape;
}

}  // namespace

Shape with_merged(const Shape& shape, int64_t axis, int64_t axes, int64_t size) {
  Shape out;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i == axis) out.push_back(size);
    if (i < axis || i >= axis + axes) out.push_back(shape[static_cast<size_t>(i)]);
  }
  return out;
}

void check_slices(const Shape& shape, int64_t axis, const Operand& index) {
  check_index_dtype(index.dtype);
  if (index.rank() != 1) throw ShapeError(text("the index must have one axis, not shape ", index.shape()));
  (void)normalize_axis(axis, shape.rank());
}

void check_elements(const Shape& shape, int64_t axis, const Operand& index) {
  check_index_dtype(index.dtype);
  if (index.rank() != shape.rank())
    throw ShapeError(text("the index has ", index.rank(), " axes, the tensor ", shape.rank()));
  for (int64_t i = 0; i < shape.rank(); ++i)
    if (i != axis && index.size(i) > shape[static_cast<size_t>(i)])
      throw ShapeError(text("the index of shape ", index.shape(), " is larger than ", shape, " on axis ", i));
}

void check_index_dtype(DType dtype) {
  if (!is_integer(dtype)) throw DtypeError(text("the indices are ", dtype, "; they must be integers, e.g. x.to(i64)"));
}

Spec Gather::infer(const Operand& x, const Operand& index) const {
  check_elements(x.shape(), axis, index);
  return spec_of(index.shape(), x.dtype);
}

Spec ScatterAdd::infer(const Operand& src, const Operand& index) const {
  check_elements(shape, axis, index);
  check_same_shape(src, index);
  return spec_of(shape, src.dtype);
}

Spec IndexSelect::infer(const Operand& x, const Operand& index) const {
  check_slices(x.shape(), axis, index);
  return spec_of(with_merged(x.shape(), axis, axes, index.numel()), x.dtype);
}

Spec IndexAdd::infer(const Operand& src, const Operand& index) const {
  check_slices(shape, axis, index);
  const Shape expected = with_size(shape, axis, index.numel());
  if (src.shape() != expected) throw ShapeError(text("the slices must have shape ", expected, ", not ", src.shape()));
  return spec_of(shape, src.dtype);
}

Spec Embedding::infer(const Operand& indices, const Operand& weight) const {
  check_index_dtype(indices.dtype);
  if (weight.rank() != 2) throw ShapeError(text("the weight must be (rows, width), not ", weight.shape()));
  if (padding_idx >= weight.size(0))
    throw IndexError(text("padding_idx ", padding_idx, " is out of range for ", weight.size(0), " rows"));
  Shape shape = indices.shape();
  shape.push_back(weight.size(1));
  return spec_of(shape, weight.dtype);
}

Spec EmbeddingBackward::infer(const Operand& g, const Operand& indices) const {
  check_index_dtype(indices.dtype);
  if (g.rank() == 0) throw ShapeError("the gradient must have the width as its last axis, not shape []");
  const int64_t width = g.shape().back();
  Shape expected = indices.shape();
  expected.push_back(width);
  check_gradient(g, expected);
  return spec_of({rows, width}, g.dtype);
}

Spec OneHot::infer(const Operand& indices) const {
  check_index_dtype(indices.dtype);
  if (classes < 1) throw Error(text("the number of classes ", classes, " must be 1 or more"));
  Shape shape = indices.shape();
  shape.push_back(classes);
  return spec_of(shape, f32);
}

}  // namespace weft::op
