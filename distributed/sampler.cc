#include "distributed/sampler.h"

#include "distributed/data_parallel/same.h"

namespace weft::data {

Sampler distributed(const weft::distributed::Group& group, const GroupSamplerOptions& options) {
  const auto agree = [group](RandomKey key) {
    if (group.size() == 1) return;
    weft::distributed::require_same(group, text("order ", key.seed, "\n"),
                                    "data::distributed: the orders of the epoch differ; every rank calls manual_seed() "
                                    "with the same seed and draws the same numbers outside of DataParallel");
  };
  return distributed(group.rank(), group.size(), DistributedOptions{.shuffle = options.shuffle, .agree = agree});
}

}  // namespace weft::data
