// The order of examples where several processes share a dataset.
#include "data/sampler.h"
#include "tensor/core/error.h"
#include "tensor/core/shape.h"

namespace weft::data {
namespace {

/// `count` examples of the order from its `from`-th, wrapping around at its end.
void append(std::vector<int64_t>& out, const std::vector<int64_t>& order, int64_t from, int64_t count) {
  const auto size = static_cast<int64_t>(order.size());
  for (int64_t i = from; i < from + count; ++i) out.push_back(order[static_cast<size_t>(i % size)]);
}

int64_t rounded_up(int64_t size, int64_t ranks) { return size / ranks + (size % ranks != 0 ? 1 : 0); }

/// What process `rank` visits of `order`: its batch of each step, and its share of what does not fill a step.
std::vector<int64_t> part_of(const std::vector<int64_t>& order, int64_t rank, int64_t ranks,
                             const OrderRequest& request) {
  const auto size = static_cast<int64_t>(order.size());
  const int64_t batch = request.batch_size, step = checked_multiply(batch, ranks), whole = size / step * step,
                rest = size - whole;
  std::vector<int64_t> out;
  for (int64_t at = 0; at < whole; at += step) append(out, order, at + rank * batch, batch);
  const int64_t share = request.drop_last ? rest / ranks : rounded_up(rest, ranks);
  append(out, order, whole + rank * share, share);
  return out;
}

}  // namespace

Sampler distributed(int64_t rank, int64_t ranks, const DistributedOptions& options) {
  if (rank < 0 || rank >= ranks) throw IndexError(text("distributed: rank ", rank, " of ", ranks, " processes"));
  const auto order = [=](const OrderRequest& request) {
    if (options.shuffle && options.agree) options.agree(request.key);
    const std::vector<int64_t> all =
        options.shuffle ? shuffled_order(request.key, request.dataset_size) : detail::ordered(request.dataset_size);
    return part_of(all, rank, ranks, request);
  };
  const auto count = [ranks](int64_t size, bool drop_last) {
    return drop_last ? size / ranks : rounded_up(size, ranks);
  };
  return Sampler(order, count, options.shuffle, ranks);
}

}  // namespace weft::data
