#include "tensor/ops/segment.h"

#include "tensor/ops/index.h"

namespace weft::op {
namespace {

void check_lengths(const Operand& lengths) {
  if (!is_integer(lengths.dtype)) throw DtypeError(text("the lengths are ", lengths.dtype, "; they must be integers"));
  if (lengths.rank() != 1) throw ShapeError(text("the lengths must have one axis, not shape ", lengths.shape()));
}

}  // namespace

Spec SegmentSum::infer(const Operand& x, const Operand& lengths) const {
  check_lengths(lengths);
  return spec_of(with_merged(x.shape(), axis, 1, lengths.numel()), x.dtype);
}

Spec SegmentReduce::infer(const Operand& x, const Operand& lengths) const { return SegmentSum{axis}.infer(x, lengths); }

Spec RepeatInterleave::infer(const Operand& x, const Operand& lengths) const {
  check_lengths(lengths);
  const int64_t slices = x.size(axis);
  if (slices != lengths.numel()) throw ShapeError(text(lengths.numel(), " lengths for ", slices, " slices"));
  return spec_of(with_merged(x.shape(), axis, 1, size), x.dtype);
}

}  // namespace weft::op
