#include "tensor/ops/sort.h"

#include "tensor/ops/reduce.h"

namespace weft::op {
namespace {

std::array<Spec, 2> one_per_row(const Operand& x, int64_t axis, bool keepdim) {
  const Shape shape = reduced_shape(x.shape(), {axis}, keepdim);
  return {spec_of(shape, x.dtype), spec_of(shape, i64)};
}

}  // namespace

std::array<Spec, 2> Sort::infer(const Operand& x) const { return {spec_like(x), spec_like(x, i64)}; }

std::array<Spec, 2> Topk::infer(const Operand& x) const {
  if (k < 0 || k > x.size(axis))
    throw IndexError(text("k = ", k, " is out of range for ", x.size(axis), " elements on axis ", axis));
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = k;
  return {spec_of(shape, x.dtype), spec_of(shape, i64)};
}

std::array<Spec, 2> Kthvalue::infer(const Operand& x) const {
  if (k < 1 || k > x.size(axis))
    throw IndexError(text("k = ", k, " is not in 1 .. ", x.size(axis), ", the number of elements on axis ", axis));
  return one_per_row(x, axis, keepdim);
}

std::array<Spec, 2> Median::infer(const Operand& x) const {
  if (x.size(axis) == 0) throw ShapeError(text("axis ", axis, " has size 0: nothing to choose from"));
  return one_per_row(x, axis, keepdim);
}

}  // namespace weft::op
