// What dispatch knows of vmap: a tensor that stands for one sample of a batch lies on a device of kind `vmap`, one for
// each vmap that runs (tensor/batching/level.h says how).
#pragma once

#include <span>

#include "tensor/core/random.h"
#include "tensor/dispatch/modes.h"
#include "tensor/tensor.h"

namespace weft::dispatch {

/// Where some inputs are samples of a batch, makes the others the same for every sample; true where there was such an
/// input.
bool lift_to_samples(std::span<Tensor> inputs);
/// `x`, which is on another device, as a sample that is the same throughout the batch of `device`; recorded.
Tensor lifted(const Tensor& x, Device device);
/// detach() of a sample: the batch behind it loses its history too.
Tensor detached_sample(const Tensor& x);

/// Whether a gradient may be asked of what is computed from `x` now; the batch behind a sample may have a history that
/// the sample does not show.
inline bool may_need_gradient(const Tensor& x) {
  return modes().recording && (x.requires_grad() || x.device().kind == DeviceKind::vmap);
}

/// A key for `count` numbers on `device`: the generator's next one, or for a sample of vmap one that gives each sample
/// numbers of its own. The vmaps that have to tell their samples apart are counted in the highest bits of its offset,
/// and each batching rule of an op that draws takes one off (take_mark), so that the op stays pure.
RandomKey key_on(Device device, int64_t count, Generator& generator = default_generator());
/// Whether a vmap was to be taken off.
inline bool take_mark(uint64_t& offset) {
  constexpr uint64_t kOne = uint64_t{1} << 60;
  if (offset < kOne) return false;
  offset -= kOne;
  return true;
}

}  // namespace weft::dispatch
