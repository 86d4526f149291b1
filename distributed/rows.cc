#include "distributed/rows.h"

#include <numeric>

#include "distributed/communicator.h"
#include "distributed/written.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"

namespace weft::distributed {
namespace {

/// Ranks compare it before they know each other's numbers of rows. It is not that of gather_rows(): a rank that has no
/// memory for all rows and repeats the call would otherwise exchange numbers while the others exchange rows.
Signature signature_of_counts(const Tensor& x) {
  Shape row;
  for (int64_t axis = 1; axis < x.rank(); ++axis) row.push_back(x.size(axis));
  return Signature::of(Call::row_counts, row, x.dtype());
}

}  // namespace

std::vector<int64_t> rows_of_ranks(const Group& group, const Tensor& x) {
  if (x.rank() == 0) throw ShapeError("a tensor without axes has no rows; x.unsqueeze(0) is one row");
  const int64_t own = x.size(0);
  if (group.size() == 1) return {own};
  std::vector<int64_t> rows(static_cast<size_t>(group.size()));
  Communicator& communicator = group.communicator();
  Collective gather = all_gather_of(communicator.rank_in_group(), reinterpret_cast<const std::byte*>(&own),
                                    reinterpret_cast<std::byte*>(rows.data()), sizeof own);
  gather.signature = signature_of_counts(x);
  communicator.run(std::move(gather));
  return rows;
}

Tensor gather_rows(const Group& group, const Tensor& x, const std::vector<int64_t>& rows) {
  const Tensor in = internal::host_row_major(x);
  const int64_t total = std::accumulate(rows.begin(), rows.end(), int64_t{0});
  Shape shape = x.shape();
  shape[0] = total;
  Tensor out = empty(shape, x.dtype());
  if (group.size() == 1) return out.copy_(in).to(x.device());
  const int64_t row_bytes = total > 0 ? out.nbytes() / total : 0;
  std::vector<int64_t> offsets = {0};
  for (const int64_t n : rows) offsets.push_back(offsets.back() + n * row_bytes);
  Communicator& communicator = group.communicator();
  Collective gather =
      all_gather_parts_of(communicator.rank_in_group(), bytes_of(in), bytes_of(out), std::move(offsets));
  gather.signature = Signature::of(Call::all_gather_rows, shape, x.dtype());
  gather.kept = {in, out};
  communicator.run(std::move(gather));
  return out.to(x.device());
}

}  // namespace weft::distributed
