// Saver: replaces the tensors that ops save for backward. saved_hooks.h and checkpoint.h are built on it.
#pragma once

#include <memory>
#include <utility>

#include "tensor/tensor.h"

namespace weft::autograd {

/// The replacement of a saved tensor.
class Packed {
 public:
  virtual ~Packed() = default;
  /// The saved values in a new tensor without history. GradientError if they are not available, or do not have this
  /// shape and dtype.
  virtual Tensor unpack(const Shape& shape, DType dtype) = 0;
  /// The number of bytes that it keeps.
  virtual int64_t bytes() const { return 0; }
};

class Saver {
 public:
  virtual ~Saver() = default;
  /// Called when an op is recorded, for each tensor that it would save. `x` has its history. Null: it is saved itself.
  virtual std::shared_ptr<Packed> save(const Tensor& x) = 0;
  /// The Saver of graphs that a transform (vjp, jvp, jacobian) records and uses up; null if these save tensors as they
  /// are.
  virtual Saver* of_transforms() { return this; }
  /// Whether the leaf behind x was the result of an op when the function that runs again (checkpoint.h) ran first.
  virtual bool was_result(const Tensor&) const { return false; }
};

/// While alive, its Saver is that of the thread on which it was created, and on which it must also end; null: tensors
/// are saved unchanged. Scopes may end in any order: what is left is the newest of those that are alive.
class SaverScope {
 public:
  explicit SaverScope(Saver* saver) : saver_(saver), outer_(std::exchange(innermost(), this)) {}
  ~SaverScope() {
    SaverScope** link = &innermost();
    while (*link != nullptr && *link != this) link = &(*link)->outer_;
    if (*link != nullptr) *link = outer_;
  }
  SaverScope(const SaverScope&) = delete;
  SaverScope& operator=(const SaverScope&) = delete;

 private:
  friend Saver* current_saver();
  static SaverScope*& innermost() {
    static thread_local constinit SaverScope* instance = nullptr;
    return instance;
  }

  Saver* saver_;
  SaverScope* outer_;
};

/// The Saver of the calling thread; null if tensors are saved unchanged.
inline Saver* current_saver() {
  const SaverScope* const scope = SaverScope::innermost();
  return scope != nullptr ? scope->saver_ : nullptr;
}

}  // namespace weft::autograd
