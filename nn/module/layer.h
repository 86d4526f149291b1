// Layer<Self>: a module that is called like a function. Observers (tensor/dispatch/observer.h) see every call, and
// errors name the layer they were thrown in.
#pragma once

#include <concepts>
#include <type_traits>

#include "nn/module/clone.h"
#include "nn/module/module.h"
#include "tensor/dispatch/observer.h"

namespace weft::nn {

/// A module with `Tensor forward(const Tensor&)`.
template <class M>
concept HasForward = std::derived_from<std::remove_const_t<M>, Module> && requires(M& module, const Tensor& x) {
  { module.forward(x) } -> std::same_as<Tensor>;
};

/// Returns call(), what `module` makes of `x`, and tells observers of it. An Error it throws gets the path of `module`
/// in front: `in layer body.0 (Linear): linear(...): ...`. The error keeps its type; the innermost layer is named.
template <class Call> Tensor in_layer(const Module& module, const Tensor& x, const Call& call) {
  try {
    if (!is_observed() && detail::forward_hooks == 0) [[likely]]
      return call();
    const std::string type = module.type_name();
    const Tensor* input = &x;
    Tensor y;
    {
      ObservedEvent event(
          {.kind = Event::Kind::layer, .name = type, .layer = module.identity(), .inputs = {&input, 1}});
      y = call();
      event.set_outputs({&y, 1});
    }
    return module.after_forward(x, y);
  } catch (Error& error) {
    module.name_in(error);
    throw;
  }
}

/// module.forward(x), observed and named in errors.
template <HasForward M> Tensor run_layer(M& module, const Tensor& x) {
  if (detail::forward_hooks != 0) [[unlikely]] {
    const Tensor given = module.before_forward(x);
    return in_layer(module, given, [&] { return module.forward(given); });
  }
  return in_layer(module, x, [&] { return module.forward(x); });
}

/// Base of modules that take one tensor and give one: adds `layer(x)`, which is forward(x).
///   struct Block : nn::Layer<Block> { Tensor forward(const Tensor& x); };
template <class Self> class Layer : public Module {
 public:
  Tensor operator()(const Tensor& x) { return run_layer(static_cast<Self&>(*this), x); }
  Tensor operator()(const Tensor& x) const { return run_layer(static_cast<const Self&>(*this), x); }
  /// See nn::clone().
  Self clone() const { return nn::clone(static_cast<const Self&>(*this)); }
};

}  // namespace weft::nn
