// What `infer` functions share: results in the right memory order, checks of dtypes and shapes.
#pragma once

#include <initializer_list>
#include <string_view>

#include "tensor/core/error.h"
#include "tensor/core/operand.h"
#include "tensor/core/scalar.h"
#include "tensor/dispatch/attribute_text.h"
#include "tensor/dispatch/policy.h"

namespace weft {

/// A result of `shape` in the memory order of the first of `inputs` that is dense and has that shape, else row-major.
/// Axes of size 1 do not make an order.
View result_view(const Shape& shape, std::initializer_list<const View*> inputs);
/// The spec of an element-wise result like `x`.
inline Spec spec_like(const Operand& x, DType dtype) { return {result_view(x.shape(), {x.view}), dtype}; }
inline Spec spec_like(const Operand& x) { return spec_like(x, x.dtype); }
/// A row-major result.
inline Spec spec_of(const Shape& shape, DType dtype) { return {View::contiguous(shape), dtype}; }

/// DtypeError naming what is accepted, for inputs that the policy does not speak of: check_dtype(index,
/// is_integer(...), ...).
void check_dtype(const Operand& x, bool accepted, std::string_view what);
/// ShapeError where the shapes differ.
void check_same_shape(const Operand& a, const Operand& b);
/// Error where the integer dtype cannot hold `value`: fill_(300) of u8, or NaN. A floating value counts without its
/// fraction. Floating dtypes round what is too large to infinity, as cast() does, and everything that is not 0 is true.
void check_fits(const Scalar& value, DType dtype);

}  // namespace weft
