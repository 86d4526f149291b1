// How vmap works: the samples of a batch are a device.
//
// Inside of vmap(f), f's arguments are tensors of one sample's shape on a device of kind `vmap`, whose memory is not
// bytes but a Value: the tensor of the whole batch, with the batch as its first axis (or, where the samples do not
// differ, without it). So everything above dispatch does what it does for any device: shapes, views (which are
// arithmetic on View alone), broadcasting, promotion, versions, history. Running a kernel there means: take the batch
// tensors behind the operands, apply a batching rule of the op to them (rule.h; it calls ordinary ops), and store
// what comes out.
//
//   vmap device:  sample [4] ----------- softmax(axis=0) ----------> sample [4]
//                    | Value                                            | Value
//   below:        batch [3, 4] --------- softmax(axis=1) ----------> batch [3, 4]
//
// History exists at both levels, each with its own nodes: grad() inside f gives each sample's gradient, also with
// respect to tensors that do not differ between samples, and backward() outside goes through the batch tensors. vmap
// inside of vmap is a device whose batch tensors lie on the outer one's. Code outside of vmap pays nothing: what is
// asked is what dispatch asks of every input, its device.
//
// A Value is never written in place: a write to a sample replaces it. What stays of it after its vmap has ended is an
// error to use.
#pragma once

#include <cstdint>

#include "tensor/dispatch/apply.h"

namespace weft::batching {

/// A tensor below, with the batch as its first axis where the samples differ.
struct Batch {
  Tensor x;
  bool batched = false;
};

/// A vmap that runs on this thread; its device's index is its number.
struct Level {
  uint64_t id;
  int64_t size;  // of the batch
  Device below;  // where batch tensors lie
};
/// Error where no vmap of that number runs on this thread.
const Level& level_of(int number);

/// Whether the vmap that `x`, a sample, belongs to still runs on this thread.
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

/// A sample of the batch, without history of its own. `batch.x` below has its batch axis first.
Tensor sample_of(Device device, const Batch& batch);
/// What is behind an operand on the device of `number`, in the operand's shape.
Batch batch_behind(int number, const Operand& x);
/// Makes `batch` what is behind `out`.
void store(int number, const Operand& out, const Batch& batch);

/// Runs any op, views too, whose type is erased, as dispatch::apply does.
std::vector<Tensor> apply_erased(const OpInfo& info, const void* op, std::span<const Tensor> inputs, Device device);

}  // namespace weft::batching
