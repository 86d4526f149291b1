#include "distributed/data_parallel/rank_random.h"

#include <algorithm>

#include "data/sampler.h"
#include "tensor/core/shape.h"

namespace weft::distributed {
namespace {

/// The next samples * size keys, a block each; that of the rank's first sample.
RandomKey first_key(int64_t rank, int64_t size, int64_t samples) {
  samples = std::max<int64_t>(samples, 1);  // a batch of none has a key too
  RandomKey key = next_random_key(checked_multiply(2 * size, samples));
  key.offset += static_cast<uint64_t>(rank * samples);
  return key;
}

}  // namespace

RankRandomScope::RankRandomScope(int64_t rank, int64_t size, int64_t samples)
    : RankRandomScope(first_key(rank, size, samples), samples) {}

RankRandomScope::RankRandomScope(RandomKey first, int64_t samples)
    : dropout_(first.seed, first.offset, samples), after_(random_state()) {
  set_random_state(data::split_key(first, 0));
}

RankRandomScope::~RankRandomScope() { set_random_state(after_); }

}  // namespace weft::distributed
