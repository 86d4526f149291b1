// How vmap works: inside of vmap, tensors are on a device of kind `vmap`.
//
// Inside of vmap(f), the arguments of f have the shape of one sample and are on such a device (we call them samples).
// The memory of a sample does not hold bytes but a Value: the tensor of the whole batch, with the batch as its first
// axis (or without a batch axis if all samples are equal). So shapes, views (which are arithmetic on View),
// broadcasting, promotion, versions and history work as for any device. To run a kernel on this device means: take the
// batch tensors of the operands, apply the op's batching rule to them (rule.h; it calls ordinary ops), and store the
// results.
//
//   vmap device:  sample [4] ----------- softmax(axis=0) ----------> sample [4]
//                    | Value                                            | Value
//   below:        batch [3, 4] --------- softmax(axis=1) ----------> batch [3, 4]
//
// History exists at both levels, each with its own nodes. grad() inside of f gives the gradient of each sample, also
// with respect to tensors that are the same for all samples; backward() outside of vmap uses the history of the batch
// tensors. In nested vmaps, the batch tensors of the inner device are samples of the outer one. Code outside of vmap
// has no extra cost, as dispatch checks the device of every input anyway.
//
// A write to a sample replaces its Value. The batch tensor is written in place only if the Value alone holds it and no
// history is recorded. Using a sample after its vmap has ended is an error.
#pragma once

#include <cstdint>

#include "tensor/dispatch/apply.h"

namespace weft::batching {

/// A tensor one level below (outside of the vmap), with the batch as its first axis if `batched`.
struct Batch {
  Tensor x;
  bool batched = false;
};

/// A vmap that runs on this thread. The index of its device is its number.
struct Level {
  uint64_t id;
  int64_t size;  // the batch size
  Device below;  // the device of the batch tensors
};
/// The level of a number. Error if no vmap with that number runs on this thread.
const Level& level_of(int number);

/// Whether the vmap of the sample `x` still runs on this thread.
bool is_running(const Tensor& x);

/// Adds a level while alive.
class LevelScope {
 public:
  LevelScope(int64_t size, Device below);
  ~LevelScope();
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;
  Device device() const { return device_; }

 private:
  Device device_;
};

/// A sample on `device` that stands for `batch`, without history at its level. If batched, batch.x has its batch axis
/// first.
Tensor sample_of(Device device, const Batch& batch);
/// The batch tensor of an operand on the device with this number, in the operand's shape.
Batch batch_behind(int number, const Operand& x);
inline Batch batch_behind(const Tensor& sample) { return batch_behind(sample.device().index, operand(sample)); }
/// Sets the batch tensor of `out` to `batch`.
void store(int number, const Operand& out, const Batch& batch);

/// Runs a type-erased op (also a view op), as dispatch::apply does.
std::vector<Tensor> apply_erased(const OpInfo& info, const void* op, std::span<const Tensor> inputs, Device device);

}  // namespace weft::batching
