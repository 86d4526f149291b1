// Samplers that give every rank its part of each epoch.
#pragma once

#include "data/sampler.h"
#include "distributed/group.h"

namespace weft::data {

struct GroupSamplerOptions {
  bool shuffle = false;  // PyTorch's DistributedSampler shuffles by default
};

/// The sampler for the loader of each rank of `group`:
///   data::DataLoader loader(digits, {.batch_size = 20, .sampler = data::distributed(group, {.shuffle = true})});
/// See distributed(rank, ranks) in data/sampler.h for which rank visits which examples. With shuffle, each epoch starts
/// with a check that all ranks drew the same order: DistributedError, naming a rank, if their generators differ.
Sampler distributed(const weft::distributed::Group& group, const GroupSamplerOptions& options = {});

}  // namespace weft::data
