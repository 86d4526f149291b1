// What op families share: kernel operands of tensors, result specs in the right memory order, dtype checks.
#pragma once

#include <initializer_list>

#include "tensor/apply.h"
#include "tensor/core/operand.h"

namespace weft {

/// The tensor as a kernel sees it.
inline kernels::cpu::Operand operand(const Tensor& x) {
  const TensorBody& body = x.body();
  return {body.storage->data(), &body.view, body.dtype};
}

/// The operand of a tensor that may be undefined: get() is null then.
class OptionalOperand {
 public:
  explicit OptionalOperand(const Tensor& x) : present_(x.defined()) {
    if (present_) value_ = operand(x);
  }
  const kernels::cpu::Operand* get() const { return present_ ? &value_ : nullptr; }

 private:
  bool present_;
  kernels::cpu::Operand value_{};
};

/// A result of `shape` in the memory order of the first of `inputs` that is dense and has that shape, else row-major.
/// Axes of size 1 do not make an order.
View result_view(const Shape& shape, std::initializer_list<const Tensor*> inputs);
/// The spec of an element-wise result like `x`.
inline Spec spec_like(const Tensor& x, DType dtype) { return {result_view(x.shape(), {&x}), dtype}; }
inline Spec spec_like(const Tensor& x) { return spec_like(x, x.dtype()); }
/// A row-major result.
inline Spec spec_of(const Shape& shape, DType dtype) { return {View::contiguous(shape), dtype}; }

/// DtypeError naming what is accepted, e.g. check_dtype(x, is_floating(x.dtype()), "a floating dtype").
void check_dtype(const Tensor& x, bool accepted, std::string_view what);
/// ShapeError where the shapes differ.
void check_same_shape(const Tensor& a, const Tensor& b);

/// The kernels' view of the output with reduced axes kept at size 1 (the reductions' convention).
Shape keepdim_shape(const Shape& shape, const IntList& axes);

}  // namespace weft
