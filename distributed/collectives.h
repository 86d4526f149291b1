// The collectives as stages (stage.h), over row-major memory.
#pragma once

#include "distributed/stage.h"

namespace weft::distributed {

/// The rank that calls, and how many ranks the group has.
struct RankInGroup {
  int rank = 0, size = 1;
};

/// data[i] becomes the reduction of data[i] over all ranks.
Collective all_reduce_of(RankInGroup self, ReduceOp op, DType dtype, std::byte* data, int64_t count);
/// The root's bytes to all.
Collective broadcast_of(RankInGroup self, int root, std::byte* data, int64_t bytes);
/// Every rank's `bytes` side by side in `out`.
Collective all_gather_of(RankInGroup self, const std::byte* data, std::byte* out, int64_t bytes);
/// Row `rank` of the reduction of all ranks' data, which are `size` rows of `count` elements.
Collective reduce_scatter_of(RankInGroup self, ReduceOp op, DType dtype, const std::byte* data, std::byte* out,
                             int64_t count);
/// Row r of `out` becomes row `rank` of rank r's data; rows of `bytes`.
Collective all_to_all_of(RankInGroup self, const std::byte* data, std::byte* out, int64_t bytes);
Collective barrier_of();

}  // namespace weft::distributed
