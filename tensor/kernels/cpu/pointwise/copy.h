// Copies between operands of one shape (any strides, any pair of dtypes) and additions into views that overlap: what
// kernels of several files use.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// to[i] = from[i], converted to the dtype of `to` (see `convert`). `from` may be masked: its padding reads as zero.
void copy(const Operand& from, const Operand& to);

/// out[i] += x[i] for every index, of one dtype (no bool) or of 16 bits into f32. `out` may overlap itself (windows,
/// stride 0): memory that several indices share receives the sum of them all.
void add_into(const Operand& x, const Operand& out);

}  // namespace weft::kernels::cpu
