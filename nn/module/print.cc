// How modules print, hooks of their calls, and what they draw random numbers from.
#include <ostream>

#include "nn/module/module_state.h"

namespace weft::nn {
namespace {

std::string indented(const std::string& lines) {
  std::string out;
  for (const char c : lines) out += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return out;
}

}  // namespace

std::string Module::to_string() const {
  const State& self = state();
  if (self.children.empty()) return type_name() + "(" + self.options + ")";
  std::string out = type_name() + "(\n";
  if (!self.options.empty()) out += "  " + self.options + "\n";
  for (const State::Child& child : self.children)
    out += "  (" + child.name + "): " + indented(Module(child.state).to_string()) + "\n";
  return out + ")";
}

std::ostream& operator<<(std::ostream& out, const Module& module) { return out << module.to_string(); }

void Module::describe(std::string options) { state().options = std::move(options); }

Module::HookHandle Module::add_hook(ForwardPreHook before, ForwardHook after) {
  State& self = state();
  const int number = self.hooks_made++;
  self.hooks.push_back({number, std::move(before), std::move(after)});
  ++detail::forward_hooks;
  return {state_, number};
}

void Module::HookHandle::remove() {
  const std::shared_ptr<State> state = state_.lock();
  if (!state) return;
  const auto count = std::erase_if(state->hooks, [&](const State::Hook& hook) { return hook.number == number_; });
  detail::forward_hooks -= static_cast<int>(count);
}

// The list is copied: a hook may take itself off.
Tensors Module::before_forward(const Tensors& inputs) const {
  Tensors given = inputs;
  for (const State::Hook& hook : std::vector<State::Hook>(state().hooks)) {
    if (!hook.before) continue;
    Tensors others = hook.before(*this, given);
    if (others.empty()) continue;
    if (others.size() != given.size())
      throw Error(text("a hook of ", type_name(), " gave ", others.size(), " inputs instead of ", given.size()));
    given = std::move(others);
  }
  return given;
}

Tensor Module::after_forward(const Tensors& inputs, const Tensor& y) const {
  Tensor result = y;
  for (const State::Hook& hook : std::vector<State::Hook>(state().hooks)) {
    if (!hook.after) continue;
    if (const Tensor other = hook.after(*this, inputs, result); other.defined()) result = other;
  }
  return result;
}

void Module::set_generator(Generator& generator) {
  state().walk([&](const std::string&, State& below) { below.generator = &generator; });
}

Generator& Module::generator() const { return has_generator() ? *state().generator : default_generator(); }

bool Module::has_generator() const { return state().generator != nullptr; }

}  // namespace weft::nn
