#include "tensor/ops/layer_norm.h"

#include "tensor/ops/batch_norm.h"

namespace weft::op {
namespace {

/// The shape of the normalized axes; all checks.
Shape check(const Operand& x, int64_t axes, std::initializer_list<const Operand*> parameters) {
  if (axes < 1 || axes > x.rank())
    throw ShapeError(text(axes, " axes cannot be normalized of a tensor with ", x.rank()));
  Shape shape(x.shape().end() - axes, x.shape().end());
  for (const Operand* p : parameters)
    if (p->defined() && p->shape() != shape)
      throw ShapeError(text("weight and bias must be ", shape, " ", x.dtype, ", not ", p->shape(), " ", p->dtype));
  for (const Operand* p : parameters)
    if (p->defined()) check_dtype(*p, is_floating(p->dtype), "weight and bias of floating dtypes");
  return shape;
}

Shape rows_of(const Operand& x, int64_t axes) {
  Shape shape = x.shape();
  for (size_t i = shape.size() - static_cast<size_t>(axes); i < shape.size(); ++i) shape[i] = 1;
  return shape;
}

}  // namespace

std::array<Spec, 3> LayerNorm::infer(const Operand& x, const Operand& weight, const Operand& bias) const {
  check(x, axes, {&weight, &bias});
  Spec rows = spec_of(rows_of(x, axes), statistics_dtype(x.dtype));
  return {spec_like(x), rows, rows};
}

std::array<Spec, 3> LayerNormBackward::infer(const Operand& g, const Operand& x, const Operand& weight, const Operand&,
                                             const Operand&) const {
  check_same_shape(g, x);
  const Shape shape = check(x, axes, {&weight});
  const auto parameter = [&](int bit) { return spec_of(wanted & bit ? shape : Shape{0}, gradient_dtype(weight, x)); };
  return {wanted & 1 ? spec_like(x) : spec_of({0}, x.dtype), parameter(2), parameter(4)};
}

}  // namespace weft::op
