#include "tensor/ops/cat.h"

#include <algorithm>

namespace weft::op {

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
  // The memory order of the first: its axes from the slowest to the fastest.
  const View& order = first.layout();
  if (order.is_contiguous() || !order.is_dense()) return spec_of(shape, first.dtype);
  IntList axes;
  for (int64_t i = 0; i < first.rank(); ++i) axes.push_back(i);
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t i, int64_t j) { return order.stride(i) < order.stride(j); });
  Strides strides(shape.size(), 0);
  int64_t step = 1;
  for (int64_t i : axes) {
    strides[static_cast<size_t>(i)] = step;
    step = checked_multiply(step, std::max<int64_t>(shape[static_cast<size_t>(i)], 1));
  }
  return {View::create(shape, strides), first.dtype};
}

}  // namespace weft::op
