#include "tensor/ops/arg_reduce.h"

namespace weft::op {
namespace {

/// `shape` without `axis`, or without all of them, or with size 1 there.
Shape without_axis(const Shape& shape, std::optional<int64_t> axis, bool keepdim) {
  Shape out;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const bool is_chosen = !axis || *axis == i;
    if (!is_chosen || keepdim) out.push_back(is_chosen ? 1 : shape[static_cast<size_t>(i)]);
  }
  return out;
}

void check_not_empty(const Operand& x, std::optional<int64_t> axis) {
  for (int64_t i = 0; i < x.rank(); ++i)
    if ((!axis || *axis == i) && x.size(i) == 0)
      throw ShapeError(text("axis ", i, " has size 0: nothing to choose from"));
}

}  // namespace

std::array<Spec, 2> ExtremumWithIndices::infer(const Operand& x) const {
  check_not_empty(x, axis);
  const Shape shape = without_axis(x.shape(), axis, keepdim);
  return {spec_of(shape, x.dtype), spec_of(shape, i64)};
}

Spec ArgExtremum::infer(const Operand& x) const {
  check_not_empty(x, axis);
  return spec_of(without_axis(x.shape(), axis, keepdim), i64);
}

}  // namespace weft::op
