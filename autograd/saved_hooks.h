// Hooks on what ops keep for backward: to keep it smaller, elsewhere, or to look at it.
#pragma once

#include <any>
#include <functional>
#include <memory>

#include "tensor/tensor.h"

namespace weft::autograd {

/// While alive, each tensor that an op recorded on this thread would keep for backward is given to `pack`, which
/// returns what to keep in its place; backward gives that to `unpack`, which returns the tensor (of the same shape
/// and dtype: GradientError otherwise). Parameters that ops keep are given too. Hooks are called without recording,
/// and not for what they compute themselves. Scopes nest: the innermost is used alone. They live as long as graphs
/// made under them.
///
///   autograd::SavedTensorHooks half([](const Tensor& x) -> std::any { return x.to(bf16); },
///                                   [](const std::any& kept) { return std::any_cast<Tensor>(kept).to(f32); });
class SavedTensorHooks {
 public:
  using Pack = std::function<std::any(const Tensor&)>;
  using Unpack = std::function<Tensor(const std::any&)>;
  SavedTensorHooks(Pack pack, Unpack unpack);
  ~SavedTensorHooks();
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

 private:
  struct Scope;
  std::unique_ptr<Scope> scope_;
};

}  // namespace weft::autograd
