// A hook on the gradients of several tensors.
#pragma once

#include <functional>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// The handle of such a hook; destroying it does not unregister the hook.
class MultiGradHookHandle {
 public:
  explicit MultiGradHookHandle(std::vector<HookHandle> hooks) : hooks_(std::move(hooks)) {}
  void remove() {
    for (HookHandle& hook : hooks_) hook.remove();
  }

 private:
  std::vector<HookHandle> hooks_;
};

/// Calls `hook(gradients)` once in each backward() or grad() that computes the gradient of one or more of `tensors`, at
/// its end (PyTorch: as soon as the last of them is known). gradients[i] is that of tensors[i]; it is undefined if none
/// was computed, and the sum of those of all runs if hooks have run backward as well. The hook must not capture the
/// tensors (see Tensor::register_hook). GradientError if a tensor does not require a gradient.
MultiGradHookHandle register_multi_grad_hook(const std::vector<Tensor>& tensors,
                                             std::function<void(const std::vector<Tensor>& gradients)> hook);

}  // namespace weft
