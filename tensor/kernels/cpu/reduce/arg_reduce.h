// Positions of extreme values.
#pragma once

#include <optional>

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// The position (i64) of the largest (smallest) value along `axis`, out of size 1 there; without an axis, the row-major
/// position in all of x, out with one element. The first of equals; the first NaN wins. x must not be empty along it.
void argmax(const Operand& x, std::optional<int64_t> axis, const Operand& out);
void argmin(const Operand& x, std::optional<int64_t> axis, const Operand& out);
/// Values (x's dtype) and their positions along one axis.
void max_with_indices(const Operand& x, int64_t axis, const Operand& values, const Operand& indices);
void min_with_indices(const Operand& x, int64_t axis, const Operand& values, const Operand& indices);

}  // namespace weft::kernels::cpu
