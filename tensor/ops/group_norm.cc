#include "tensor/ops/group_norm.h"

#include "tensor/ops/batch_norm.h"

namespace weft::op {
namespace {

void check(const Operand& x, int64_t groups, std::initializer_list<const Operand*> per_channel) {
  const int64_t channels = check_channels(x, per_channel)[0];
  if (groups < 1 || channels % groups != 0)
    throw ShapeError(text(channels, " channels do not divide into ", groups, " groups"));
}

}  // namespace

std::array<Spec, 3> GroupNorm::infer(const Operand& x, const Operand& weight, const Operand& bias) const {
  check(x, groups, {&weight, &bias});
  const Spec statistics = spec_of({x.size(0), groups}, statistics_dtype(x.dtype));
  return {spec_like(x), statistics, statistics};
}

std::array<Spec, 3> GroupNormBackward::infer(const Operand& g, const Operand& x, const Operand& weight, const Operand&,
                                             const Operand&) const {
  check_same_shape(g, x);
  check(x, groups, {&weight});
  const auto parameter = [&](int bit) { return spec_of({wanted & bit ? x.size(1) : 0}, gradient_dtype(weight, x)); };
  return {wanted & 1 ? spec_like(x) : spec_of({0}, x.dtype), parameter(2), parameter(4)};
}

}  // namespace weft::op
