// RankRandomScope: the random numbers of each rank in a call of the model.
#pragma once

#include "tensor/core/random.h"
#include "tensor/functions/dropout.h"

namespace weft::distributed {

/// While this object is alive, the random numbers that this thread draws are those of rank `rank` of `size`; each rank
/// has `samples` samples. Dropout depends on the sample: together, `size` ranks draw what one process draws for all
/// samples, at once or batch by batch. Other random numbers depend on the rank's batch: they are what one process draws
/// that runs the batches one after the other. A generator of the caller (a module's own, by set_generator()) is not
/// changed: ranks that seed it alike draw the same numbers for different samples.
class RankRandomScope {
 public:
  RankRandomScope(int64_t rank, int64_t size, int64_t samples);
  ~RankRandomScope();
  RankRandomScope(const RankRandomScope&) = delete;
  RankRandomScope& operator=(const RankRandomScope&) = delete;

 private:
  /// `first` is the key of this rank's first sample.
  RankRandomScope(RandomKey first, int64_t samples);
  internal::SampleScope dropout_;
  RandomState after_;
};

}  // namespace weft::distributed
