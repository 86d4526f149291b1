#include "tensor/ops/pad_mode.h"

namespace weft {

std::string attribute_text(PadMode mode) {
  switch (mode) {
    case PadMode::constant: return "constant";
    case PadMode::reflect: return "reflect";
    case PadMode::replicate: return "replicate";
    case PadMode::circular: break;
  }
  return "circular";
}

namespace op {
namespace {

/// The shape of x with `times` times the widths added.
Shape grown(const Operand& x, const std::vector<Padding>& widths, int64_t times) {
  Shape shape = x.shape();
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = checked_add(shape[i], times * checked_add(widths[i].first, widths[i].second));
  return shape;
}

}  // namespace

Spec PadMode::infer(const Operand& x) const { return spec_in_order_of(x, grown(x, widths, 1)); }
Spec PadModeBackward::infer(const Operand& g) const { return spec_in_order_of(g, grown(g, widths, -1)); }

}  // namespace op
}  // namespace weft
