// Layer<Self>: a module that is called like a function. Observers (tensor/dispatch/observer.h) see every call, and
// error messages name the layer in which the error was thrown.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <typeinfo>
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

/// The first tensor of a layer's result, which is the one that observers and hooks see: the result itself, its member
/// `output` or `h`, or the first element of a pair, a tuple or a list if that is a tensor. Null if there is none.
template <class Result> Tensor* first_of(Result& result) {
  if constexpr (std::same_as<Result, Tensor>)
    return &result;
  else if constexpr (requires { requires std::same_as<decltype(result.output), Tensor>; })
    return &result.output;
  else if constexpr (requires { requires std::same_as<decltype(result.h), Tensor>; })
    return &result.h;
  else if constexpr (requires { requires std::same_as<std::tuple_element_t<0, Result>, Tensor>; })
    return &std::get<0>(result);
  else if constexpr (std::same_as<Result, std::vector<Tensor>>)
    return result.empty() ? nullptr : &result[0];
  else
    return nullptr;
}

/// Whether module.forward(x, more...), with at least one more argument, is a layer's call.
template <class M, class... More>
concept Forwards = sizeof...(More) > 0 && requires(M& module, const Tensor& x, const More&... more) {
  module.forward(x, more...);
  requires !std::is_void_v<decltype(module.forward(x, more...))>;
};

/// Calls run(context, inputs), which returns the first tensor of its result, or null if there is none, between the
/// hooks of `module`, and reports it to observers.
void show_call(const Module& module, Tensors inputs, Tensor* (*run)(const void* context, const Tensors& inputs),
               const void* context);

/// Runs call(inputs...) when an observer or a hook is registered.
template <class Call, class... Inputs> auto call_seen(const Module& module, const Call& call, const Inputs&... inputs) {
  std::optional<decltype(call(inputs...))> result;
  const auto run = [&](const Tensors& given) {
    result.emplace([&]<size_t... i>(std::index_sequence<i...>) {
      return call(given[i]...);
    }(std::index_sequence_for<Inputs...>()));
    return first_of(*result);
  };
  show_call(
      module, {inputs...},
      [](const void* context, const Tensors& given) -> Tensor* {
        return (*static_cast<decltype(&run)>(context))(given);
      },
      &run);
  return std::move(*result);
}

template <class M> constexpr void check_forward() {
  constexpr bool kIsCallable = requires(M & module, const Tensor& x) { module.forward(x); };
  static_assert(kIsCallable,
                "a layer called with one tensor needs a public forward(const Tensor&), const if the layer is");
  if constexpr (kIsCallable) {
    using Result = decltype(std::declval<M&>().forward(std::declval<const Tensor&>()));
    static_assert(!std::is_void_v<Result>, "forward() must return a value");
  }
}

/// The layer whose forward() runs on this thread, and the memory of its object.
struct RunningLayer {
  const Module* layer = nullptr;
  const void* object = nullptr;
  size_t size = 0;
  /// Whether `module` is a member of the layer's class.
  bool has_member(const Module& module) const {
    return &module != layer && reinterpret_cast<uintptr_t>(&module) - reinterpret_cast<uintptr_t>(object) < size;
  }
};
inline constinit thread_local RunningLayer running_layer;

/// module.forward(inputs...), while which `module` is the running layer.
template <class M, class... Inputs> decltype(auto) forward_of(M& module, const Inputs&... inputs) {
  struct Scope {
    explicit Scope(M& module) : before(std::exchange(running_layer, RunningLayer{&module, &module, sizeof(M)})) {}
    ~Scope() { running_layer = before; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    RunningLayer before;
  };
  const Scope scope(module);
  return module.forward(inputs...);
}

[[noreturn]] void throw_wrong_self(const std::type_info& type, const std::type_info& self);
/// The layer as the Self that its class gave to Layer. Error if it is none.
template <class Self, class Base> Self& self_of(Base& layer) {
  if (typeid(layer) != typeid(Self) && dynamic_cast<Self*>(&layer) == nullptr)
    throw_wrong_self(typeid(layer), typeid(Self));
  return static_cast<Self&>(layer);
}

}  // namespace detail

/// Returns call(inputs...), the forward computation of `module`. Every layer call goes through this function: it
/// notifies observers, and hooks may change the inputs and the output. An Error thrown inside is prefixed with the path
/// of the innermost layer, `in layer body.0 (Linear): linear(...): ...`, and keeps its type.
template <class Call, std::same_as<Tensor>... Inputs>
auto in_layer(const Module& module, const Call& call, const Inputs&... inputs) {
  if (module.identity() == nullptr) throw Error("this module was moved from");
  if (detail::running_layer.has_member(module)) detail::warn_of_member(*detail::running_layer.layer, module);
  try {
    if (!is_observed() && detail::forward_hooks() == 0) [[likely]]
      return call(inputs...);
    return detail::call_seen(module, call, inputs...);
  } catch (Error& error) {
    module.name_in(error);
    throw;
  }
}

/// module.forward(x), called through in_layer().
template <class M> auto run_layer(M& module, const Tensor& x) {
  return in_layer(
      module, [&](const Tensor& given) { return detail::forward_of(module, given); }, x);
}

/// Base of modules that are called like functions: it adds `layer(x)`, which runs forward(x), and `layer(x, y, ...)`
/// for a forward() of several tensors, or of a tensor and other arguments. Of a result that is no tensor, observers and
/// hooks see the member `output` or `h`, or the first element of a pair, a tuple or a list; an undefined tensor if
/// there is none.
///   struct Block : nn::Layer<Block> { Tensor forward(const Tensor& x); };
/// `Self` is the class whose forward() is called. A class that derives from an existing layer must make that layer a
/// member instead, or have a virtual forward() as its base: `layer(x)` does not see one that only hides the base's.
template <class Self> class Layer : public Module {
 public:
  auto operator()(const Tensor& x) {
    detail::check_forward<Self>();
    return run_layer(detail::self_of<Self>(*this), x);
  }
  auto operator()(const Tensor& x) const {
    detail::check_forward<const Self>();
    return run_layer(detail::self_of<const Self>(*this), x);
  }
  template <class... More>
    requires(detail::Forwards<Self, More...> && !detail::Forwards<const Self, More...>)
  auto operator()(const Tensor& x, const More&... more) { return call(detail::self_of<Self>(*this), x, more...); }
  template <class... More>
    requires(detail::Forwards<const Self, More...>)
  auto operator()(const Tensor& x, const More&... more) const {
    return call(detail::self_of<const Self>(*this), x, more...);
  }
  /// See nn::clone().
  Self clone() const { return nn::clone(detail::self_of<const Self>(*this)); }

 private:
  /// Hooks see the tensors where all arguments are tensors, else the first.
  template <class M, class... More> static auto call(M& self, const Tensor& x, const More&... more) {
    if constexpr ((std::same_as<More, Tensor> && ...))
      return in_layer(
          self, [&](const auto&... given) { return detail::forward_of(self, given...); }, x, more...);
    else
      return in_layer(
          self, [&](const Tensor& given) { return detail::forward_of(self, given, more...); }, x);
  }
};

}  // namespace weft::nn
