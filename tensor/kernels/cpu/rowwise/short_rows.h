// Sorts and selections of rows of a few elements.
#pragma once

#include <functional>

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// The longest rows that are sorted together, one per lane.
inline constexpr int64_t kShortRowSorted = 16;

/// The rank of what is chosen from a row, by its length and its number of NaN.
using Rank = std::function<int64_t(int64_t length, int64_t nan)>;

/// Writes as many elements of each row, in order, as `values` has along `axis`, from rank `first` on (0 if empty). The
/// rows have up to kShortRowSorted elements.
void choose_from_short_rows(const Operand& x, int64_t axis, bool descending, const Operand& values,
                            const Operand& indices, const Rank& first);

}  // namespace weft::kernels::cpu
