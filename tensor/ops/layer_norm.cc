#include "tensor/ops/layer_norm.h"

#include "tensor/kernels/cpu/rowwise/layer_norm.h"
#include "tensor/op.h"

namespace weft {
namespace cpu = kernels::cpu;

Tensor layer_norm(const Tensor& x, int64_t normalized_axes, const Tensor& weight, const Tensor& bias, double eps) {
  Frame frame("layer_norm", x, weight, bias);
  return apply(op::LayerNorm{normalized_axes, eps}, x, weight, bias)[0];
}

std::array<Tensor, 3> layer_norm_backward(const Tensor& g, const Tensor& x, int64_t normalized_axes,
                                          const Tensor& weight, const Tensor& mean, const Tensor& rstd, double eps,
                                          int wanted) {
  Frame frame("layer_norm_backward", g, x, weight);
  return apply(op::LayerNormBackward{normalized_axes, eps, wanted}, g, x, weight, mean, rstd);
}

namespace op {
namespace {

/// The shape of the normalised axes; all checks.
Shape check(const Tensor& x, int64_t axes, const Tensor& weight, const Tensor& bias) {
  check_dtype(x, is_floating(x.dtype()), "floating dtypes");
  if (axes < 1 || axes > x.rank())
    throw ShapeError(text(axes, " axes cannot be normalised of a tensor with ", x.rank()));
  const Shape shape(x.shape().end() - axes, x.shape().end());
  for (const Tensor* t : {&weight, &bias})
    if (t->defined() && (t->shape() != shape || t->dtype() != x.dtype()))
      throw ShapeError(text("weight and bias must be ", shape, " ", x.dtype(), ", not ", describe(*t)));
  return shape;
}

Shape rows_of(const Tensor& x, int64_t axes) {
  Shape shape = x.shape();
  for (size_t i = shape.size() - static_cast<size_t>(axes); i < shape.size(); ++i) shape[i] = 1;
  return shape;
}

}  // namespace

std::array<Spec, 3> LayerNorm::infer(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
  check(x, axes, weight, bias);
  const Spec rows = spec_of(rows_of(x, axes), x.dtype());
  return {spec_like(x), rows, rows};
}
void LayerNorm::run(const Tensor& x, const Tensor& weight, const Tensor& bias, std::array<Tensor, 3>& out) const {
  const OptionalOperand w(weight), b(bias), mean(out[1]), rstd(out[2]);
  cpu::layer_norm(operand(x), axes, w.get(), b.get(), eps, operand(out[0]), mean.get(), rstd.get());
}

std::array<Spec, 3> LayerNormBackward::infer(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor&,
                                             const Tensor&) const {
  check_same_shape(g, x);
  const Spec parameter = spec_of(check(x, axes, weight, Tensor()), x.dtype());
  const Spec none = spec_of({0}, x.dtype());
  return {wanted & 1 ? spec_like(x) : none, wanted & 2 ? parameter : none, wanted & 4 ? parameter : none};
}
void LayerNormBackward::run(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& mean,
                            const Tensor& rstd, std::array<Tensor, 3>& out) const {
  const OptionalOperand w(weight), dx(wanted & 1 ? out[0] : Tensor()), dw(wanted & 2 ? out[1] : Tensor()),
      db(wanted & 4 ? out[2] : Tensor());
  cpu::layer_norm_backward(operand(g), operand(x), axes, w.get(), operand(mean), operand(rstd), dx.get(), dw.get(),
                           db.get());
}

}  // namespace op
}  // namespace weft
