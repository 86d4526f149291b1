#include "autograd/leaf.h"

#include "autograd/leaf_node.h"

namespace weft {

Tensor parameter(const Tensor& value) {
  ErrorFrame frame("parameter", value);
  if (!is_floating(value.dtype()))
    throw DtypeError(text(value.dtype(), " cannot collect a gradient; it takes f32, f64, bf16 or f16"));
  Tensor leaf = value.detach();  // a body of its own: `value` stays what it was
  return leaf.requires_grad_(true);
}

const Tensor& Tensor::requires_grad_(bool value) const {
  ErrorFrame frame("requires_grad_", *this);
  // Checked first: requires_grad() updates the history of a view whose base was written to; such a view is not a leaf.
  if (requires_grad() && value) return *this;
  internal::TensorBody& self = internal::body(*this);
  if (self.history) {
    self.history->set_requires_grad(value);
  } else if (value) {
    if (!is_floating(dtype()))
      throw DtypeError(text(dtype(), " cannot collect a gradient; it takes f32, f64, bf16 or f16"));
    self.history = IntrusivePtr<Provenance>::adopt(new autograd::Leaf(*this));
    self.output_index = 0;
    self.cut = nullptr;
    self.base = nullptr;
  }
  return *this;
}

}  // namespace weft
