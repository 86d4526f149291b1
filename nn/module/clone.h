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

/// The scope in which clone() builds a module whose values are then overwritten. Its end restores the state of the
/// default generator, from which building a module draws.
class OverwrittenScope {
 public:
  OverwrittenScope();
  ~OverwrittenScope();
  OverwrittenScope(const OverwrittenScope&) = delete;
  OverwrittenScope& operator=(const OverwrittenScope&) = delete;
  /// Whether the calling thread is in such a scope.
  static bool is_open();

 private:
  RandomState state_;
  bool outer_;
};

}  // namespace detail

/// A deep copy of `module`. It has the same values, dtypes, devices, memory order, train/eval modes, frozen parameters
/// and sharing between parameters; it has no history, gradients or hooks. `make()` builds the new module. Its values
/// are overwritten, so nn::init repeats the numbers it draws meanwhile; its structure must match: Error if a module's
/// class or options differ, or the name or shape of a tensor. Members that are neither tensors nor modules keep what
/// make() gave them.
///   auto target = nn::clone(net, [&] { return Net(options); });
template <std::derived_from<Module> M, std::invocable Make>
  requires std::same_as<std::invoke_result_t<const Make&>, M> M clone(const M& module, const Make& make) {
    M copy = [&] {
      const detail::OverwrittenScope scope;
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
