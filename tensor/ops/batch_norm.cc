#include "tensor/ops/batch_norm.h"

namespace weft::op {

Shape check_channels(const Operand& x, std::initializer_list<const Operand*> per_channel) {
  if (x.rank() < 2) throw ShapeError(text("x must be (N, C) or (N, C, ...), not ", x.shape()));
  Shape channels{x.size(1)};
  for (const Operand* t : per_channel)
    if (t->defined() && t->shape() != channels)
      throw ShapeError(
          text("per-channel tensors must be ", channels, " ", x.dtype, ", not ", t->shape(), " ", t->dtype));
  for (const Operand* t : per_channel)
    if (t->defined()) check_dtype(*t, is_floating(t->dtype), "per-channel tensors of floating dtypes");
  return channels;
}

Shape check_batch(const Operand& x, std::initializer_list<const Operand*> per_channel, double eps) {
  Shape channels = check_channels(x, per_channel);
  if (x.numel() > 0 && x.numel() == x.size(1))
    throw ShapeError("each channel has one value, which has no variance; use eval() or a larger batch");
  if (!(eps > 0)) throw Error(text("eps must be positive in training, not ", eps));
  return channels;
}

std::array<Spec, 4> BatchNorm::infer(const Operand& x, const Operand& weight, const Operand& bias) const {
  const Spec statistics = spec_of(check_batch(x, {&weight, &bias}, eps), statistics_dtype(x.dtype));
  return {spec_like(x), statistics, statistics, statistics};
}

std::array<Spec, 3> BatchNormBackward::infer(const Operand& g, const Operand& x, const Operand& weight,
                                             const Operand& bias, const Operand& mean, const Operand& rstd) const {
  check_same_shape(g, x);
  const Shape channels = check_channels(x, {&weight, &bias, &mean, &rstd});
  const auto parameter = [&](const Operand& of, int bit) {
    return spec_of(wanted & bit ? channels : Shape{0}, gradient_dtype(of, x));
  };
  return {wanted & 1 ? spec_like(x) : spec_of({0}, x.dtype), parameter(weight, 2), parameter(bias, 4)};
}

Spec BatchNormInference::infer(const Operand& x, const Operand& mean, const Operand& var, const Operand& weight,
                               const Operand& bias) const {
  check_channels(x, {&mean, &var, &weight, &bias});
  return spec_like(x);
}

}  // namespace weft::op
