// The collectives, described as stages (stage.h) on row-major memory.
#pragma once

#include "distributed/stage.h"

namespace weft::distributed {

/// The calling rank and the number of ranks in the group.
struct RankInGroup {
  int rank = 0, size = 1;
};

/// In place of a root: every rank gets the result.
inline constexpr int kEveryRank = -1;

/// Replaces data[i] by the reduction of data[i] over all ranks.
Collective all_reduce_of(RankInGroup self, ReduceOp op, DType dtype, std::byte* data, int64_t count);
/// The same on the root alone. The other ranks' data is only read, and their `sums` are memory for
/// ceil(count / size) elements, which two ranks do not need.
Collective reduce_of(RankInGroup self, int root, ReduceOp op, DType dtype, std::byte* data, std::byte* sums,
                     int64_t count);
/// Copies the root's bytes to all ranks.
Collective broadcast_of(RankInGroup self, int root, std::byte* data, int64_t bytes);
/// Concatenates every rank's `bytes` bytes in `out`.
Collective all_gather_of(RankInGroup self, const std::byte* data, std::byte* out, int64_t bytes);
/// The same in the root's `out` alone.
Collective gather_of(RankInGroup self, int root, const std::byte* data, std::byte* out, int64_t bytes);
/// As all_gather_of(), of different numbers of bytes: rank r's are those from offsets[r] to offsets[r + 1] of `out`.
Collective all_gather_parts_of(RankInGroup self, const std::byte* data, std::byte* out, std::vector<int64_t> offsets);
/// Copies row `rank` of the root's data to `out`. A row has `bytes` bytes.
Collective scatter_of(RankInGroup self, int root, const std::byte* data, std::byte* out, int64_t bytes);
/// Each rank's data is `size` rows of `count` elements. `out` is row `rank` of the reduction of all ranks' data.
Collective reduce_scatter_of(RankInGroup self, ReduceOp op, DType dtype, const std::byte* data, std::byte* out,
                             int64_t count);
/// Sets row r of `out` to row `rank` of rank r's data. A row has `bytes` bytes.
Collective all_to_all_of(RankInGroup self, const std::byte* data, std::byte* out, int64_t bytes);
/// Ends once all ranks have called it. It has its signature: that of `call`.
Collective barrier_of(Call call = Call::barrier);

}  // namespace weft::distributed
