#include "tensor/ops/embedding_bag.h"

#include "tensor/ops/index.h"

namespace weft::op {
namespace {

void check_bags(const Operand& indices, const Operand& weight, const Operand& offsets, int64_t padding) {
  check_index_dtype(indices.dtype);
  if (indices.rank() != 1) throw ShapeError(text("the indices must be a row, not of shape ", indices.shape()));
  if (weight.rank() != 2) throw ShapeError(text("the weight must be (rows, width), not ", weight.shape()));
  if (padding >= weight.size(0))
    throw IndexError(text("padding_idx ", padding, " is out of range for ", weight.size(0), " rows"));
  if (!is_integer(offsets.dtype)) throw DtypeError(text("offsets must be integers, not ", offsets.dtype));
  if (offsets.rank() != 1) throw ShapeError(text("offsets must have one axis, not shape ", offsets.shape()));
}

}  // namespace

Spec EmbeddingBag::infer(const Operand& indices, const Operand& weight, const Operand& offsets,
                         const Operand& factors) const {
  check_bags(indices, weight, offsets, padding_idx);
  if (factors.defined()) check_same_shape(indices, factors);
  return spec_of({offsets.numel(), weight.size(1)}, weight.dtype);
}

Spec EmbeddingBagArgmax::infer(const Operand& indices, const Operand& weight, const Operand& offsets) const {
  check_bags(indices, weight, offsets, padding_idx);
  return spec_of({offsets.numel(), weight.size(1)}, i64);
}

}  // namespace weft::op
