#include "tensor/ops/cat.h"

#include <algorithm>

#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/op.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"

namespace weft {

Tensor cat(const std::vector<Tensor>& tensors, int64_t axis) {
  Frame frame("cat", std::span<const Tensor>(tensors));
  if (tensors.empty()) throw Error("it takes at least one tensor");
  DType dtype = tensors[0].dtype();
  for (const Tensor& x : tensors) dtype = promote(dtype, x.dtype());
  std::vector<Tensor> same;
  for (const Tensor& x : tensors) same.push_back(cast(x, dtype));
  if (same[0].rank() == 0) throw ShapeError("tensors without axes cannot be joined; use stack");
  return apply_list(op::Cat{normalize_axis(axis, same[0].rank())}, same);
}

Tensor stack(const std::vector<Tensor>& tensors, int64_t axis) {
  Frame frame("stack", std::span<const Tensor>(tensors));
  if (tensors.empty()) throw Error("it takes at least one tensor");
  const int64_t at = normalize_axis(axis, tensors[0].rank() + 1);
  std::vector<Tensor> with_axis;
  for (const Tensor& x : tensors) {
    if (x.shape() != tensors[0].shape())
      throw ShapeError(text("shapes differ: ", tensors[0].shape(), " and ", x.shape()));
    with_axis.push_back(unsqueeze(x, at));
  }
  return cat(with_axis, at);
}

namespace op {

Spec Cat::infer(std::span<const Tensor> tensors) const {
  const Tensor& first = tensors[0];
  Shape shape = first.shape();
  const size_t a = static_cast<size_t>(axis);
  shape[a] = 0;
  for (const Tensor& x : tensors) {
    bool fits = x.rank() == first.rank();
    for (size_t i = 0; fits && i < shape.size(); ++i) fits = i == a || x.shape()[i] == first.shape()[i];
    if (!fits) throw ShapeError(text("shapes ", first.shape(), " and ", x.shape(), " differ on more than axis ", axis));
    shape[a] = checked_add(shape[a], x.shape()[a]);
  }
  // The memory order of the first: its axes from the slowest to the fastest.
  const View& order = first.layout();
  if (order.is_contiguous() || !order.is_dense()) return spec_of(shape, first.dtype());
  IntList axes;
  for (int64_t i = 0; i < first.rank(); ++i) axes.push_back(i);
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t i, int64_t j) { return order.stride(i) < order.stride(j); });
  Strides strides(shape.size(), 0);
  int64_t step = 1;
  for (int64_t i : axes) {
    strides[static_cast<size_t>(i)] = step;
    step = checked_multiply(step, std::max<int64_t>(shape[static_cast<size_t>(i)], 1));
  }
  return {View::create(shape, strides), first.dtype()};
}

void Cat::run(std::span<const Tensor> tensors, Tensor& out) const {
  int64_t at = 0;
  for (const Tensor& x : tensors) {
    const View part = out.layout().slice(axis, at, at + x.size(axis));
    kernels::cpu::copy(operand(x), {out.raw(), &part, out.dtype()});
    at += x.size(axis);
  }
}

}  // namespace op
}  // namespace weft
