// Saver: who takes what ops keep for backward, where it is not kept as it is. Below saved_hooks.h and checkpoint.h.
#pragma once

#include <memory>

#include "tensor/tensor.h"

namespace weft::autograd {

/// What stands for a saved tensor.
class Packed {
 public:
  virtual ~Packed() = default;
  /// The values again, in a new tensor without history. GradientError where they cannot be had, or
  /// are not of this shape and dtype.
  virtual Tensor unpack(const Shape& shape, DType dtype) = 0;
  /// Bytes it keeps.
  virtual int64_t bytes() const { return 0; }
};

class Saver {
 public:
  virtual ~Saver() = default;
  /// Called with each tensor that an op would keep (with its history), while it is recorded.
  virtual std::shared_ptr<Packed> save(const Tensor& x) = 0;
};

/// The calling thread's; null: tensors are kept as they are.
inline Saver*& current_saver() {
  static thread_local constinit Saver* instance = nullptr;
  return instance;
}

class SaverScope {
 public:
  explicit SaverScope(Saver* saver) : previous_(std::exchange(current_saver(), saver)) {}
  ~SaverScope() { current_saver() = previous_; }
  SaverScope(const SaverScope&) = delete;
  SaverScope& operator=(const SaverScope&) = delete;

 private:
  Saver* previous_;
};

}  // namespace weft::autograd
