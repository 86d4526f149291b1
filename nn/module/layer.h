// Layer<Self>: a module that is called like a function. Observers (tensor/dispatch/observer.h) see every call, and
// errors name the layer they were thrown in.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "nn/module/clone.h"
#include "nn/module/module.h"
#include "tensor/dispatch/observer.h"

namespace weft::nn {

/// A module with `Tensor forward(const Tensor&)`.
template <class M>
concept HasForward = std::derived_from<std::remove_const_t<M>, Module> && requires(M& module, const Tensor& x) {
  { module.forward(x) } -> std::same_as<Tensor>;
};

namespace detail {

/// What layers give: a tensor, or several by name.
template <class Result>
concept LayerResult = std::same_as<Result, Tensor> || requires(Result& result) {
  result.output;
} || requires(Result& result) {
  result.h;
};

/// The tensor of a layer's result that observers and hooks see: the first.
template <LayerResult Result> Tensor& first_of(Result& result) {
  if constexpr (std::same_as<Result, Tensor>)
    return result;
  else if constexpr (requires { result.output; })
    return result.output;
  else
    return result.h;
}

/// call(inputs...) where something observes or hooks.
template <class Call, class... Inputs> auto call_seen(const Module& module, const Call& call, const Inputs&... inputs) {
  Tensors given = {inputs...};
  const bool hooked = forward_hooks != 0;
  if (hooked) given = module.before_forward(given);
  const auto run = [&]<size_t... i>(std::index_sequence<i...>) { return call(given[i]...); };
  const std::string type = module.type_name();
  std::vector<const Tensor*> seen;
  for (const Tensor& input : given) seen.push_back(&input);
  decltype(call(inputs...)) result;
  {
    ObservedEvent event({.kind = ObserverEvent::Kind::layer, .name = type, .layer = module.identity(), .inputs = seen});
    result = run(std::index_sequence_for<Inputs...>());
    event.set_outputs({&first_of(result), 1});
  }
  if (hooked) first_of(result) = module.after_forward(given, first_of(result));
  return result;
}

}  // namespace detail

/// Returns call(inputs...), what `module` makes of these tensors. Every call of a layer goes this way: observers are
/// told of it, and hooks may change the inputs and the output. An Error it throws gets the path of `module` in front:
/// `in layer body.0 (Linear): linear(...): ...`. The error keeps its type; the innermost layer is named.
template <class Call, std::same_as<Tensor>... Inputs>
auto in_layer(const Module& module, const Call& call, const Inputs&... inputs) {
  try {
    if (!is_observed() && detail::forward_hooks == 0) [[likely]]
      return call(inputs...);
    return detail::call_seen(module, call, inputs...);
  } catch (Error& error) {
    module.name_in(error);
    throw;
  }
}

/// module.forward(x), observed, hooked and named in errors.
template <HasForward M> Tensor run_layer(M& module, const Tensor& x) {
  return in_layer(
      module, [&](const Tensor& given) { return module.forward(given); }, x);
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
