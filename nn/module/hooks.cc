// Hooks of modules' calls.

#include "nn/module/module_state.h"

namespace weft::nn {

Module::HookHandle Module::add_hook(ForwardPreHook before, ForwardHook after) {
  State& self = state();
  const int number = self.hooks_made++;
  self.hooks.push_back(std::make_shared<const State::Hook>(State::Hook{number, std::move(before), std::move(after)}));
  ++detail::forward_hooks;
  return {state_, number};
}

void Module::HookHandle::remove() {
  const std::shared_ptr<State> state = state_.lock();
  if (!state) return;
  const auto count = std::erase_if(state->hooks, [&](const auto& hook) { return hook->number == number_; });
  detail::forward_hooks -= static_cast<int>(count);
}

// The list is copied: a hook may take itself off.
Tensors Module::before_forward(const Tensors& inputs) const {
  Tensors given = inputs;
  for (const auto& hook : State::Hooks(state().hooks)) {
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
  for (const auto& hook : State::Hooks(state().hooks)) {
    if (!hook->after) continue;
    if (const Tensor other = hook->after(*this, inputs, result); other.defined()) result = other;
  }
  return result;
}

}  // namespace weft::nn
