// Dropout.
#pragma once

#include "tensor/core/random.h"
#include "tensor/tensor.h"

namespace weft {

/// Sets elements to zero with probability p and scales the others by 1 / (1 - p). Random numbers come from `generator`,
/// by default the process's. The op itself is deterministic: its random key is an attribute. Error unless
/// 0 <= p <= 1, DtypeError unless floating.
Tensor dropout(const Tensor& x, double p = 0.5);
Tensor dropout(const Tensor& x, double p, Generator& generator);
/// dropout(x, p) if `training`, else x itself.
Tensor dropout(const Tensor& x, double p, bool training);
template <std::same_as<bool> T> Tensor dropout(const Tensor& x, T training) = delete;  // write dropout(x, p, training)
/// Channel dropout: sets whole channels to zero with probability p and scales the others by 1 / (1 - p). x is
/// (N, C, L), (N, C, H, W) or (N, C, D, H, W), or one of these without N. ShapeError for other ranks.
Tensor dropout1d(const Tensor& x, double p = 0.5, Generator& generator = default_generator());
Tensor dropout2d(const Tensor& x, double p = 0.5, Generator& generator = default_generator());
Tensor dropout3d(const Tensor& x, double p = 0.5, Generator& generator = default_generator());
/// Sets each element with probability p to the limit of SELU at -inf, then applies an affine map so that inputs of mean
/// 0 and variance 1 keep both (Klambauer et al., arXiv 1706.02515). feature_alpha_dropout() does so to whole channels
/// of x (N, C, ...).
Tensor alpha_dropout(const Tensor& x, double p = 0.5, Generator& generator = default_generator());
Tensor feature_alpha_dropout(const Tensor& x, double p = 0.5, Generator& generator = default_generator());

namespace internal {

/// While alive, makes dropout() and attention on this thread draw random numbers per sample: a sample gets the same
/// numbers in any batch and at any position in it. Axis 0 of the batch's tensors holds the samples `first`, first + 1,
/// ..., first + count - 1. DataParallel opens a scope for each call of its model, so that results do not depend on the
/// number of ranks. The scope does not affect calls with a generator of their own, draws whose number of elements is
/// not divisible by `count`, and other random functions. Scopes nest.
class SampleScope {
 public:
  /// `seed` determines the random streams; each draw in the scope uses a new stream.
  SampleScope(uint64_t seed, uint64_t first, int64_t count);
  ~SampleScope();
  SampleScope(const SampleScope&) = delete;
  SampleScope& operator=(const SampleScope&) = delete;
  /// The random key of the next draw of `count` numbers.
  RandomKey next(int64_t count);
  bool divides(int64_t count) const { return count_ > 0 && count % count_ == 0; }

 private:
  uint64_t seed_, first_, draws_ = 0;
  int64_t count_;
  SampleScope* outer_;
};

}  // namespace internal

}  // namespace weft
