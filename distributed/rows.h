// The rows of all ranks, of which each may have another number; internal to distributed/.
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/group.h"

namespace weft::distributed {

/// The number of rows (the size of axis 0) of every rank's x. Its other sizes and its dtype must be the same on all
/// ranks. ShapeError if x has no axis.
std::vector<int64_t> rows_of_ranks(const Group& group, const Tensor& x);

/// x (n, ...) -> (the sum of rows, ...): every rank's x, one after the other in rank order. `rows` is what
/// rows_of_ranks() returned.
Tensor gather_rows(const Group& group, const Tensor& x, const std::vector<int64_t>& rows);

}  // namespace weft::distributed
