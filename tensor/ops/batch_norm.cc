#include "tensor/ops/batch_norm.h"

namespace weft {
namespace detail {

Shape check_channels(const Operand& x, std::initializer_list<const Operand*> per_channel) {
  if (x.rank() < 2) throw ShapeError(text("x must be (N, C) or (N, C, ...), not ", x.shape()));
  const Shape channels{x.size(1)};
  for (const Operand* t : per_channel)
    if (t->defined() && t->shape() != channels)
      throw ShapeError(
          text("per-channel tensors must be ", channels, " ", x.dtype, ", not ", t->shape(), " ", t->dtype));
  return channels;
}

Shape check_batch(const Operand& x, std::initializer_list<const Operand*> per_channel) {
  const Shape channels = check_channels(x, per_channel);
  if (x.numel() > 0 && x.numel() == x.size(1))
    throw ShapeError("each channel has one value, which has no variance; use eval() or a larger batch");
  return channels;
}

}  // namespace detail

namespace op {

using weft::detail::check_batch;
using weft::detail::check_channels;

std::array<Spec, 3> BatchNorm::infer(const Operand& x, const Operand& weight, const Operand& bias) const {
  Spec channels = spec_of(check_batch(x, {&weight, &bias}), x.dtype);
  return {spec_like(x), channels, channels};
}

std::array<Spec, 3> BatchNormBackward::infer(const Operand& g, const Operand& x, const Operand& weight,
                                             const Operand& bias, const Operand& mean, const Operand& rstd) const {
  check_same_shape(g, x);
  Spec channels = spec_of(check_channels(x, {&weight, &bias, &mean, &rstd}), x.dtype);
  Spec none = spec_of({0}, x.dtype);
  return {wanted & 1 ? spec_like(x) : none, wanted & 2 ? channels : none, wanted & 4 ? channels : none};
}

Spec BatchNormInference::infer(const Operand& x, const Operand& mean, const Operand& var, const Operand& weight,
                               const Operand& bias) const {
  check_channels(x, {&mean, &var, &weight, &bias});
  return spec_like(x);
}

}  // namespace op
}  // namespace weft
