// Dropout.
#pragma once

#include "tensor/core/random.h"
#include "tensor/tensor.h"

namespace weft {

/// Zeros elements with probability p and scales the rest by 1 / (1 - p). Draws from the process's generator or
/// `generator`; the op itself is pure (it carries its random key). Error unless 0 <= p <= 1, DtypeError unless
/// floating.
Tensor dropout(const Tensor& x, double p = 0.5);
Tensor dropout(const Tensor& x, double p, Generator& generator);
/// x itself unless `training`.
Tensor dropout(const Tensor& x, double p, bool training);

namespace internal {

/// While alive, dropout() and attention on this thread, where they draw from the process's generator, take numbers that
/// belong to the samples of a batch and not to the place of a sample in it: the batch's tensors hold samples `first`,
/// first + 1, ... first + count - 1 along axis 0, and a sample has the same numbers in whatever batch it comes.
/// DataParallel has one for each call of its model, so that results do not depend on the number of ranks. Draws of a
/// number of elements that does not divide by `count`, and other functions that draw, are not touched. Scopes nest.
class SampleScope {
 public:
  /// `seed` names the streams: each draw in the scope has one of its own.
  SampleScope(uint64_t seed, uint64_t first, int64_t count);
  ~SampleScope();
  SampleScope(const SampleScope&) = delete;
  SampleScope& operator=(const SampleScope&) = delete;
  /// The key of the next draw, of `count` numbers.
  RandomKey next(int64_t count);
  bool divides(int64_t count) const { return count_ > 0 && count % count_ == 0; }

 private:
  uint64_t seed_, first_, draws_ = 0;
  int64_t count_;
  SampleScope* outer_;
};

/// The key of a dropout of `count` elements on `device`: of the samples in a SampleScope, else the generator's next.
RandomKey dropout_key(Device device, int64_t count, Generator& generator);

}  // namespace internal

}  // namespace weft
