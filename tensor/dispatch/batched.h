// What dispatch knows of vmap: a tensor that stands for one sample of a batch lies on a device of kind `vmap`, one for
// each vmap that runs (tensor/batching/level.h says how).
#pragma once

#include <span>
#include <string_view>

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

/// `x`, or for a sample of vmap all samples, with the batch in front; without history. For checks of values, which all
/// samples must pass.
Tensor all_samples(const Tensor& x);
/// A sample that is the same throughout the batch as a tensor below, without history. DeviceError where samples differ.
Tensor same_in_all_samples(const Tensor& x);
/// DeviceError for a sample of vmap, where the shape of a result would depend on x's values: they differ between
/// samples, whose shapes cannot. `instead` says what can be done.
void check_shape_is_known(const Tensor& x, std::string_view instead);
/// A copy of `x` that is about to be written; a sample of vmap where one of `others` is.
Tensor copy_to_write(const Tensor& x, std::span<const Tensor* const> others);

/// Whether x requires a gradient; for a sample of vmap, whether it or the batch behind it does, at any depth.
bool needs_gradient(const Tensor& x);
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
