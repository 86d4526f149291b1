// clone(): a module again, with memory of its own.
#pragma once

#include <concepts>
#include <type_traits>

#include "nn/module/module.h"
#include "tensor/core/random.h"

namespace weft::nn {

/// A module that says how another of its structure is built: `Net remake() const { return Net(options_); }`.
template <class M>
concept Remade = requires(const M& module) {
  { module.remake() } -> std::same_as<M>;
};
/// A module that clone() can build: by remake() or, where it has none, by its default constructor.
template <class M>
concept Clonable = std::derived_from<M, Module> &&(Remade<M> || std::default_initializable<M>);

namespace detail {

/// Another module of the same structure; its values do not matter.
template <Clonable M> M remade(const M& module) {
  if constexpr (Remade<M>)
    return module.remake();
  else
    return M();
}

/// Gives `to` copies of the parameters, buffers and modes of `from`. Error where their structures differ.
void copy_module_state(const Module& from, const Module& to);

/// Puts the process's random numbers back where they were: building a module draws some.
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

/// A module like `module` with parameters and buffers of its own: the same values, dtypes, devices and memory order,
/// frozen where they are frozen, in the same mode, shared where they are shared; without history, gradients and hooks.
/// `make()` builds it; its values do not matter, its structure does: Error where the two differ in a module's class or
/// options, or in the name or shape of a tensor. Members that are no tensors and no modules are what make() sets.
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

/// The same of a module with a remake() or a default constructor; every layer here has one of them.
template <Clonable M> M clone(const M& module) {
  return clone(module, [&module] { return detail::remade(module); });
}

}  // namespace weft::nn
