#include "autograd/multi_grad_hook.h"

#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "autograd/gradient_buffer.h"
#include "tensor/functions/binary.h"

namespace weft {
namespace {

using Gradients = std::vector<Tensor>;

/// The gradients that the hooks of the single tensors collect, and the hook that gets all of them.
struct Collected : std::enable_shared_from_this<Collected> {
  explicit Collected(size_t tensors, std::function<void(const Gradients&)> f) : count(tensors), hook(std::move(f)) {}

  void add(size_t i, const Tensor& gradient) {
    Tensor& sum = (*of_this_run())[i];
    sum = sum.defined() ? sum + gradient : gradient;
  }

  /// The gradients of the run of backward on this thread. At its end, the run calls the hook with them and releases
  /// them. If it fails, it releases them without the call, as only the run owns them.
  std::shared_ptr<Gradients> of_this_run() {
    const std::lock_guard lock(mutex);
    std::weak_ptr<Gradients>& known = runs[std::this_thread::get_id()];
    if (std::shared_ptr<Gradients> running = known.lock()) return running;
    const auto fresh = std::make_shared<Gradients>(count);
    autograd::after_backward([self = shared_from_this(), fresh] {
      {
        const std::lock_guard end(self->mutex);
        self->runs.erase(std::this_thread::get_id());
      }
      self->hook(*fresh);
    });
    known = fresh;
    return fresh;
  }

  size_t count;
  std::function<void(const Gradients&)> hook;
  std::mutex mutex;
  std::map<std::thread::id, std::weak_ptr<Gradients>> runs;
};

}  // namespace

MultiGradHookHandle register_multi_grad_hook(const std::vector<Tensor>& tensors,
                                             std::function<void(const std::vector<Tensor>& gradients)> hook) {
  ErrorFrame frame("register_multi_grad_hook", std::span<const Tensor>(tensors));
  if (!hook) throw Error("the hook is empty");
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!tensors[i].requires_grad()) throw GradientError(text("tensor ", i, " does not require a gradient"));
  const auto collected = std::make_shared<Collected>(tensors.size(), std::move(hook));
  std::vector<HookHandle> hooks;
  for (size_t i = 0; i < tensors.size(); ++i)
    hooks.push_back(tensors[i].register_hook([collected, i](const Tensor& g) { collected->add(i, g); }));
  return MultiGradHookHandle(std::move(hooks));
}

}  // namespace weft
