// clone(): a deep copy of a module.
#pragma once

#include <concepts>
#include <type_traits>

#include "nn/module/module.h"
#include "tensor/core/random.h"

namespace weft::nn {

/// A module with a method that builds another module of the same structure: `Net remake() const { return Net(options_);
/// }`.
template <class M>
concept Remade = requires(const M& module) {
  { module.remake() } -> std::same_as<M>;
};
/// A module that clone() can copy: it has remake() or, failing that, a default constructor.
template <class M>
concept Clonable = std::derived_from<M, Module> &&(Remade<M> || std::default_initializable<M>);

namespace detail {

/// Another module of the same structure. Its values are not specified.
template <Clonable M> M remade(const M& module) {
  if constexpr (Remade<M>)
    return module.remake();
  else
    return M();
}

/// Restores the state of the default generator: building a module draws random numbers from it.
class RandomStateGuard {
 public:
  RandomStateGuard() : state_(random_state()) {}
  ~RandomStateGuard() { set_random_state(state_); }
  RandomStateGuard(const RandomStateGuard&) = delete;
  RandomStateGuard& operator=(const RandomStateGuard&) = delete;

 private:
  RandomState state_;
};

}  // namespace detail

/// A deep copy of `module`. It has the same values, dtypes, devices, memory order, train/eval modes, frozen parameters
/// and sharing between parameters; it has no history, gradients or hooks. `make()` builds the new module. Its values
/// are overwritten, but its structure must match: Error if a module's class or options differ, or the name or shape of
/// a tensor. Members that are neither tensors nor modules keep what make() gave them.
///   auto target = nn::clone(net, [&] { return Net(options); });
template <std::derived_from<Module> M, std::invocable Make>
  requires std::same_as<std::invoke_result_t<const Make&>, M> M clone(const M& module, const Make& make) {
    M copy = [&] {
      const detail::RandomStateGuard guard;
      return make();
    }();
    detail::copy_module_state(module, copy);
    return copy;
  }

/// The same for a module that has remake() or a default constructor, as every layer of weft does.
template <Clonable M> M clone(const M& module) {
  return clone(module, [&module] { return detail::remade(module); });
}

}  // namespace weft::nn
