#include "tensor/op.h"

namespace weft {

View result_view(const Shape& shape, std::initializer_list<const Tensor*> inputs) {
  for (const Tensor* x : inputs) {
    const View& view = x->layout();
    if (view.shape() != shape || !view.is_dense()) continue;
    if (view.is_contiguous()) break;
    return View::create(shape, view.strides());
  }
  return View::contiguous(shape);
}

void check_dtype(const Tensor& x, bool accepted, std::string_view what) {
  if (!accepted) throw DtypeError(text(x.dtype(), " is not accepted here; it takes ", what));
}

void check_same_shape(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) throw ShapeError(text("shapes differ: ", a.shape(), " and ", b.shape()));
}

Shape keepdim_shape(const Shape& shape, const IntList& axes) {
  Shape out = shape;
  for (int64_t axis : axes) out[static_cast<size_t>(axis)] = 1;
  return out;
}

}  // namespace weft
