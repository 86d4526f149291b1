// Hooks of modules' calls.

#include <mutex>

#include "nn/module/layer.h"
#include "nn/module/module_state.h"

namespace weft::nn {
namespace {

/// A copy of the list: a hook may take itself off.
template <class State> auto list_of(const State& state) {
  std::vector<std::shared_ptr<const typename State::Hook>> list;
  const std::lock_guard lock(State::Hooks::mutex);
  if (!state.hooks) return list;
  for (const auto& [number, hook] : state.list_of_hooks().list) list.push_back(hook);
  return list;
}

}  // namespace

Module::HookHandle Module::add_hook(const HookOptions& options, ForwardPreHook before, ForwardHook after) {
  State& self = state();
  const auto hook = std::make_shared<const State::Hook>(State::Hook{std::move(before), std::move(after)});
  const std::lock_guard lock(State::Hooks::mutex);
  if (!self.hooks) self.hooks = IntrusivePtr<HookHandle::Hooks>::adopt(new State::Hooks);
  State::Hooks& hooks = self.list_of_hooks();
  const int number = options.prepend ? --hooks.first : hooks.made++;
  hooks.list.emplace(number, hook);
  detail::count_forward_hooks(1);
  return {self.hooks, number};
}

Tensors Module::before_forward(const Tensors& inputs) const {
  Tensors given = inputs;
  for (const auto& hook : list_of(state())) {
    if (!hook->before) continue;
    Tensors others = hook->before(*this, given);
    if (others.empty()) continue;
    if (others.size() != given.size())
      throw Error(text("a hook of ", type_name(), " gave ", others.size(), " inputs instead of ", given.size()));
    given = std::move(others);
  }
  return given;
}

Tensor Module::after_forward(const Tensors& inputs, const Tensor& y) const {
  Tensor result = y;
  for (const auto& hook : list_of(state())) {
    if (!hook->after) continue;
    if (const Tensor other = hook->after(*this, inputs, result); other.defined()) result = other;
  }
  return result;
}

void detail::show_call(const Module& module, Tensors inputs, Tensor* (*run)(const void* context, const Tensors& inputs),
                       const void* context) {
  const bool hooked = forward_hooks() != 0;
  if (hooked) inputs = module.before_forward(inputs);
  const std::string type = module.type_name(), path = module.path();
  std::vector<const Tensor*> seen;
  for (const Tensor& input : inputs) seen.push_back(&input);
  Tensor* first = nullptr;
  {
    ObservedEvent event(
        {.kind = ObserverEvent::Kind::layer, .name = type, .layer = module.identity(), .path = path, .inputs = seen});
    first = run(context, inputs);
    if (first != nullptr) event.set_outputs({first, 1});
  }
  Tensor none;  // what hooks see of a result without a first tensor
  if (hooked) (first != nullptr ? *first : none) = module.after_forward(inputs, first != nullptr ? *first : none);
}

}  // namespace weft::nn
