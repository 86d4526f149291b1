// Hooks on the tensors that ops save for backward, for example to compress, offload or inspect them.
#pragma once

#include <any>
#include <functional>

#include "tensor/core/owned.h"
#include "tensor/tensor.h"

namespace weft::autograd {

/// While alive, `pack` is called with each tensor, parameters included, that an op recorded on this thread would save
/// for backward, and its result is saved instead. backward calls `unpack` with this result; it must return a tensor of
/// the same shape and dtype (GradientError otherwise). pack must not write to its argument, which others use too
/// (GradientError). Hooks run without recording, and not for ops that they run themselves, nor on the samples of vmap.
/// Scopes nest: only the innermost one is used. They end on the thread where they began, in any order. The hooks are
/// kept as long as graphs recorded in the scope exist.
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
  Owned<Scope> scope_;
};

}  // namespace weft::autograd
