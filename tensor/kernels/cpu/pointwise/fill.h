// Fills: operands written from numbers. Any dtype; values are converted as `scalar_as` does.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/core/scalar.h"

namespace weft::kernels::cpu {

/// Every element is `value`; any strides.
void fill(const Operand& out, const Scalar& value);
/// out is 1-D: out[i] = start + i * step. Integer dtypes with an integer start and step are exact, others go through double.
void arange(const Operand& out, const Scalar& start, const Scalar& step);
/// out is 1-D: evenly spaced from `start` to `end`, both met exactly; a single value is `start`.
void linspace(const Operand& out, double start, double end);
/// out is 2-D: ones on the diagonal, zeros elsewhere.
void eye(const Operand& out);

}  // namespace weft::kernels::cpu
