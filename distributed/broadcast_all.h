// A broadcast of many tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/group.h"

namespace weft::distributed {

/// group.broadcast(tensors[i], roots[i]) for all i, in another order: small tensors of one root and dtype travel
/// together, since each call costs as much as tens of kilobytes. All ranks must call it with tensors of the same shapes
/// and dtypes.
void broadcast_all(const Group& group, const std::vector<Tensor>& tensors, const std::vector<int64_t>& roots);

}  // namespace weft::distributed
