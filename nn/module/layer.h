// Layer<Self>: a module that is called like a function. Observers (nn/module/summary.h) see every call, and errors name
// the layer they were thrown in.
#pragma once

#include <concepts>
#include <type_traits>

#include "nn/module/module.h"

namespace weft::nn {

/// Sees the layers that run on its thread.
class LayerObserver {
 public:
  virtual ~LayerObserver() = default;
  virtual void enter(const Module& layer) = 0;
  virtual void leave(const Module& layer, const Tensor& output) = 0;
  /// The calling thread's observer, or null.
  static LayerObserver*& current() {
    static thread_local constinit LayerObserver* observer = nullptr;
    return observer;
  }
};

/// A module with `Tensor forward(const Tensor&)`.
template <class M>
concept HasForward = std::derived_from<std::remove_const_t<M>, Module> && requires(M& module, const Tensor& x) {
  { module.forward(x) } -> std::same_as<Tensor>;
};

/// Returns f(). An Error it throws gets the path of `module` in front: `in layer body.0 (Linear): linear(...): ...`.
/// The error keeps its type, and nothing is done where nothing is thrown. The innermost layer is the one that is named.
template <class F>
Tensor in_layer(const Module& module, F&& f) {
  try {
    return f();
  } catch (Error& error) {
    module.name_in(error);
    throw;
  }
}

/// Runs `module.forward(x)` and notifies the observer.
template <HasForward M>
Tensor run_layer(M& module, const Tensor& x) {
  return in_layer(module, [&] {
    LayerObserver* observer = LayerObserver::current();
    if (observer == nullptr) [[likely]]
      return module.forward(x);
    observer->enter(module);
    Tensor y = module.forward(x);
    observer->leave(module, y);
    return y;
  });
}

/// Base of modules that take one tensor and give one: adds `layer(x)`, which is forward(x).
///   struct Block : nn::Layer<Block> { Tensor forward(const Tensor& x); };
template <class Self>
class Layer : public Module {
 public:
  Tensor operator()(const Tensor& x) { return run_layer(static_cast<Self&>(*this), x); }
  Tensor operator()(const Tensor& x) const { return run_layer(static_cast<const Self&>(*this), x); }
};

}  // namespace weft::nn
