#include "tensor/functions/blend.h"

#include <array>

#include "tensor/dispatch/in_place.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/ops/blend.h"

namespace weft {

Tensor lerp(const Tensor& start, const Tensor& end, double weight) {
  ErrorFrame frame("lerp", start, end);
  return dispatch::apply(op::Lerp{{}, weight}, start, end);
}

Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight) {
  ErrorFrame frame("lerp", start, end, weight);
  return dispatch::apply(op::LerpBy{}, start, end, weight);
}

namespace {

/// value a b of integers or bool, in their dtype; a floating value makes it floating.
Tensor scaled_product(const Tensor& a, const Tensor& b, const Scalar& value, DType dtype) {
  const Tensor product = cast(a, dtype) * value * cast(b, dtype);
  return value.is_floating() ? product : cast(product, dtype);  // a multiple of bool is i64
}

}  // namespace

Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value) {
  ErrorFrame frame("addcmul", x, a, b);
  const DType dtype = dispatch::promoted(std::array{x, a, b});
  if (is_floating(dtype)) return dispatch::apply(op::Addcmul{{{}, value.to_double()}}, x, a, b);
  return x + scaled_product(a, b, value, dtype);
}

Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value) {
  ErrorFrame frame("addcdiv", x, a, b);
  if (!is_floating(x.dtype()) && !is_floating(a.dtype()) && !is_floating(b.dtype()))
    throw DtypeError("a quotient of integers; use x + value * floor_divide(a, b), or cast first, e.g. a.to(f32)");
  return dispatch::apply(op::Addcdiv{{{}, value.to_double()}}, x, a, b);
}

Tensor& Tensor::addcmul_(const Tensor& a, const Tensor& b, const Scalar& value) {
  ErrorFrame frame("addcmul_", *this, a, b);
  if (!is_floating(dtype())) {
    return add_(scaled_product(a, b, value, dispatch::promoted(std::array{*this, a, b})));
  }
  return dispatch::apply_in_place(op::Addcmul{{{}, value.to_double()}}, "addcmul_", *this, a, b);
}

Tensor& Tensor::addcdiv_(const Tensor& a, const Tensor& b, const Scalar& value) {
  ErrorFrame frame("addcdiv_", *this, a, b);
  return dispatch::apply_in_place(op::Addcdiv{{{}, value.to_double()}}, "addcdiv_", *this, a, b);
}

}  // namespace weft
