#include "tensor/ops/cat.h"

#include <algorithm>

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

/// A result of `shape` in the memory order of `x`: its axes from the slowest to the fastest.
Spec in_order_of(const Operand& x, const Shape& shape) {
  const View& order = x.layout();
  if (order.is_contiguous() || !order.is_dense()) return spec_of(shape, x.dtype);
  IntList axes;
  for (int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t i, int64_t j) { return order.stride(i) < order.stride(j); });
  Strides strides(shape.size(), 0);
  int64_t step = 1;
  for (int64_t i : axes) {
    strides[static_cast<size_t>(i)] = step;
    step = checked_multiply(step, std::max<int64_t>(shape[static_cast<size_t>(i)], 1));
  }
  return {View::create(shape, strides), x.dtype};
}

/// The shape of x with `times` times the widths added.
Shape grown(const Operand& x, const std::vector<Padding>& widths, int64_t times) {
  Shape shape = x.shape();
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = checked_add(shape[i], times * checked_add(widths[i].first, widths[i].second));
  return shape;
}

}  // namespace

Spec Cat::infer(Operands tensors) const {
  const Operand& first = tensors[0];
  Shape shape = first.shape();
  const size_t a = static_cast<size_t>(axis);
  shape[a] = 0;
  for (const Operand& x : tensors) {
    bool fits = x.rank() == first.rank();
    for (size_t i = 0; fits && i < shape.size(); ++i) fits = i == a || x.shape()[i] == first.shape()[i];
    if (!fits) throw ShapeError(text("shapes ", first.shape(), " and ", x.shape(), " differ on more than axis ", axis));
    shape[a] = checked_add(shape[a], x.shape()[a]);
  }
  return in_order_of(first, shape);
}

Spec PadMode::infer(const Operand& x) const { return in_order_of(x, grown(x, widths, 1)); }
Spec PadModeBackward::infer(const Operand& g) const { return in_order_of(g, grown(g, widths, -1)); }

}  // namespace op
}  // namespace weft
