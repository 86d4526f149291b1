// Helpers of the collectives: tensors as row-major memory, and writes that autograd must know of.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "distributed/group.h"

namespace weft::distributed {

class Progressive;

/// The start of row-major memory.
std::byte* bytes_of(const Tensor& x);

/// Records that `name` wrote to x. A tensor with a history that shares x's memory is an error in backward from then on.
void was_written(const Tensor& x, const char* name);

/// Memory for results that belong in x, initialized with x's values.
class Written {
 public:
  /// GradientError if x may not be written to. `name` is the function that writes.
  Written(const Tensor& x, const char* name);
  const Tensor& memory() const { return memory_; }
  const Tensor& target() const { return x_; }
  /// Call it after writing: copies the values to x if needed.
  void finish();

 private:
  Tensor x_, memory_;
  const char* name_;
};

/// Watches tensors that must not be written to while an exchange uses them. A tensor that covers only part of its
/// memory is not watched, because a write may concern another part.
class Watch {
 public:
  explicit Watch(const std::vector<Tensor>& tensors);
  /// A tensor that was written to since construction, or null. Its storage knows the last writer.
  const Tensor* written() const;

 private:
  std::vector<Tensor> tensors_;
  std::vector<uint64_t> versions_;
};

struct Work::State {
  std::shared_ptr<Communicator> group;
  std::shared_ptr<Progressive> work;
  std::shared_ptr<Written> written;  // null if the result is a new tensor
  Watch watch;
  bool waited = false;  // by any of the handles
  /// Starts a call, by begin(), that uses `tensors`.
  static Work start(std::shared_ptr<Communicator> group, std::vector<Tensor> tensors, std::shared_ptr<Written> written,
                    const std::function<std::shared_ptr<Progressive>()>& begin);
};

}  // namespace weft::distributed
