// Hooks of modules' calls.

#include "nn/module/module_state.h"

namespace weft::nn {
namespace {

/// A copy of the list: a hook may take itself off.
template <class Hook> std::vector<Hook> list_of(const std::map<int, Hook>& hooks) {
  std::vector<Hook> list;
  list.reserve(hooks.size());
  for (const auto& [number, hook] : hooks) list.push_back(hook);
  return list;
}

}  // namespace

Module::HookHandle Module::add_hook(ForwardPreHook before, ForwardHook after) {
  State& self = state();
  const int number = self.hooks_made++;
  self.hooks.emplace(number, std::make_shared<const State::Hook>(State::Hook{std::move(before), std::move(after)}));
  ++detail::forward_hooks;
  return {state_, number};
}

void Module::HookHandle::remove() {
  const std::shared_ptr<State> state = state_.lock();
  if (!state) return;
  detail::forward_hooks -= static_cast<int>(state->hooks.erase(number_));
}

Tensors Module::before_forward(const Tensors& inputs) const {
  Tensors given = inputs;
  for (const auto& hook : list_of(state().hooks)) {
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
  for (const auto& hook : list_of(state().hooks)) {
    if (!hook->after) continue;
    if (const Tensor other = hook->after(*this, inputs, result); other.defined()) result = other;
  }
  return result;
}

}  // namespace weft::nn
