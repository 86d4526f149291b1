#include "data/padded.h"

#include <algorithm>

#include "tensor/core/error.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::data {

Tensor pad_stack(const std::vector<Tensor>& tensors, double value) {
  ErrorFrame frame("pad_stack", std::span<const Tensor>(tensors));
  if (tensors.empty()) throw Error("there are no tensors");
  DType dtype = tensors[0].dtype();
  for (const Tensor& x : tensors) dtype = promote(dtype, x.dtype());
  Shape largest = tensors[0].shape();
  for (const Tensor& x : tensors) {
    if (x.rank() != largest.rank())
      throw ShapeError(text(tensors[0].shape(), " and ", x.shape(), " have different numbers of axes"));
    for (size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], x.shape()[i]);
  }
  Shape shape = largest;
  shape.insert(0, static_cast<int64_t>(tensors.size()));
  const Tensor out = full(shape, value, dtype, tensors[0].device());
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<Interval> bounds;
    for (const int64_t size : tensors[i].shape()) bounds.push_back({0, size});
    select(out, 0, static_cast<int64_t>(i)).shrink(bounds).copy_(tensors[i]);
  }
  return out;
}

}  // namespace weft::data
