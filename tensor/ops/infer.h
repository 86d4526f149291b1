// Functions that `infer` functions share: the layout of results, and checks of dtypes and shapes.
#pragma once

#include <initializer_list>
#include <string_view>

#include "tensor/core/error.h"
#include "tensor/core/operand.h"
#include "tensor/core/scalar.h"
#include "tensor/dispatch/attribute_text.h"
#include "tensor/dispatch/policy.h"

namespace weft {

/// The layout of a result of `shape`: the memory order of the first of `inputs` that is dense and has that shape, else
/// row-major. Axes of size 1 are ignored when the order is determined.
View result_view(const Shape& shape, std::initializer_list<const View*> inputs);
/// The spec of an element-wise result like `x`.
inline Spec spec_like(const Operand& x, DType dtype) { return {result_view(x.shape(), {x.view}), dtype}; }
inline Spec spec_like(const Operand& x) { return spec_like(x, x.dtype); }
/// A row-major result.
inline Spec spec_of(const Shape& shape, DType dtype) { return {View::contiguous(shape), dtype}; }
/// A result of `shape` in the memory order of `x`: its axes from the slowest to the fastest.
Spec spec_in_order_of(const Operand& x, const Shape& shape);

/// DtypeError, naming what is accepted, unless `accepted`. For inputs that the policy does not check:
/// check_dtype(index, is_integer(...), ...).
void check_dtype(const Operand& x, bool accepted, std::string_view what);
/// ShapeError if the shapes differ.
void check_same_shape(const Operand& a, const Operand& b);
/// ShapeError unless the gradient of a result of shape `expected` has that shape.
void check_gradient(const Operand& g, const Shape& expected);
/// Error unless 0 <= p <= 1. `what` begins its text: "the probability" or "p =".
void check_probability(std::string_view what, double p);
/// Error if an integer dtype cannot hold `value`, for example fill_(300) of u8, or NaN. A floating value is truncated
/// first. Every value is accepted for floating dtypes (too large ones become infinity, as in cast()) and for bool
/// (every value except 0 is true).
void check_fits(const Scalar& value, DType dtype);

}  // namespace weft
