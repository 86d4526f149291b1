#include "tensor/ops/masked.h"

namespace weft::op {
namespace {

void check_mask(const Operand& mask) {
  if (mask.dtype != boolean) throw DtypeError(text("the mask is ", mask.dtype, "; it must be bool, e.g. x > 0"));
}

}  // namespace

Spec MaskedFill::infer(const Operand& x, const Operand& mask) const {
  check_mask(mask);
  check_fits(value, x.dtype);
  return spec_like(x);
}

Spec MaskedSelect::infer(const Operand& x, const Operand& mask) const {
  check_mask(mask);
  return spec_of({count}, x.dtype);
}

Spec MaskedScatter::infer(const Operand& x, const Operand& mask, const Operand& src) const {
  check_mask(mask);
  check_same_shape(x, mask);
  if (src.rank() != 1) throw ShapeError(text("the source must have one axis, not shape ", src.shape()));
  return spec_like(x);
}

Spec Nonzero::infer(const Operand& mask) const {
  check_mask(mask);
  return spec_of(coordinates ? Shape{count, mask.rank()} : Shape{count}, DType::i64);
}

Spec Triangle::infer(const Operand& x) const {
  if (x.rank() < 2) throw ShapeError(text("a matrix has 2 axes or more, not shape ", x.shape()));
  return spec_of(x.shape(), x.dtype);
}

}  // namespace weft::op
