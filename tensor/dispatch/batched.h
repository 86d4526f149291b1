// The interface of vmap for dispatch. Inside of vmap, a tensor that represents one sample of a batch is on a device of
// kind `vmap`; each running vmap has its own device (see tensor/batching/level.h). Such tensors are called samples.
#pragma once

#include <span>
#include <string_view>

#include "tensor/core/random.h"
#include "tensor/dispatch/modes.h"
#include "tensor/tensor.h"

namespace weft::dispatch {

/// Where an op of these inputs runs: on the device of the innermost vmap of which some are samples, else on that of the
/// first one.
Device deepest_device(std::span<const Tensor> inputs);
/// If some inputs are samples, converts the others to samples that are the same throughout the batch. Returns whether
/// any input was a sample.
bool lift_to_samples(std::span<Tensor> inputs);
/// Converts `x`, which is on another device, to a sample that is the same throughout the batch of `device`; recorded.
Tensor lifted(const Tensor& x, Device device);
/// detach() of a sample; detaches its batch tensor too.
Tensor detached_sample(const Tensor& x);

/// `x` without history, or for a sample the tensor of all samples, with the batch axis first. Used to check values of
/// all samples.
Tensor all_samples(const Tensor& x);
/// Converts a sample that is the same throughout the batch to a tensor outside of the vmap, without history.
/// DeviceError if the samples differ.
Tensor same_in_all_samples(const Tensor& x);
/// DeviceError if x is a sample. For ops whose result shape depends on x's values, which can differ between samples,
/// while all samples must have the same shape. `instead` is a suggestion for the error text.
void check_shape_is_known(const Tensor& x, std::string_view instead);
/// A copy of `x` to be written to. If one of `others` is a sample, the copy is a sample too.
Tensor copy_to_write(const Tensor& x, std::span<const Tensor* const> others);

/// Whether x requires a gradient. For a sample: whether it or its batch tensor (at any depth of nesting) does.
bool needs_gradient(const Tensor& x);
/// Whether results computed from `x` now may need a gradient. True for every sample while recording, because its batch
/// tensor may have a history even if the sample has none.
inline bool may_need_gradient(const Tensor& x) {
  return internal::modes().recording && (x.requires_grad() || x.device().kind == DeviceKind::vmap);
}

/// A random key for `count` numbers on `device`: the generator's next key. On a vmap device, the key is marked so that
/// each sample gets different numbers. The highest bits of its offset count the (nested) vmaps that have to do this.
/// The batching rule of a random op removes one mark (take_mark), so that the op itself stays deterministic.
RandomKey key_on(Device device, int64_t count, Generator& generator = default_generator());
/// Removes one vmap mark from the offset of a key; false if there was none.
inline bool take_mark(uint64_t& offset) {
  constexpr uint64_t kOne = uint64_t{1} << 60;
  if (offset < kOne) return false;
  offset -= kOne;
  return true;
}

}  // namespace weft::dispatch
