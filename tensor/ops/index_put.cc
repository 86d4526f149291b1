#include "tensor/ops/index_put.h"

namespace weft::op {
namespace {

void check_source(const Operand& x, int64_t axis, int64_t axes, const Operand& index, const Operand& src) {
  check_slices(x.shape(), axis, index);
  const Shape expected = with_merged(x.shape(), axis, axes, index.numel());
  if (src.shape() != expected) throw ShapeError(text("the slices must have shape ", expected, ", not ", src.shape()));
}

}  // namespace

Spec FlatIndex::infer(Operands indices) const {
  for (const Operand& index : indices) {
    check_index_dtype(index.dtype);
    check_same_shape(indices[0], index);
  }
  return spec_of(indices[0].shape(), DType::i64);
}

Spec IndexCopy::infer(const Operand& x, const Operand& index, const Operand& src) const {
  check_source(x, axis, axes, index, src);
  return spec_like(x);
}

Spec IndexAccumulate::infer(const Operand& x, const Operand& index, const Operand& src) const {
  check_source(x, axis, axes, index, src);
  return spec_like(x);
}

}  // namespace weft::op
