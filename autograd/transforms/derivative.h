// Derivatives of functions in one direction: vjp (reverse mode) and jvp (forward mode).
//
//   auto [y, gradient] = vjp([](const Tensor& x) { return sin(x) * x; }, x, v);
//
// The function may be anything that is called with a Tensor and gives one, or with a std::vector<Tensor> and gives a
// Tensor or a std::vector<Tensor>. The arguments need not require a gradient, nothing is stored on leaves, and
// transforms nest. Results have history where the function reads parameters (or the arguments have history) and
// recording is on.
#pragma once

#include <concepts>
#include <functional>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

struct OutputAndGradient {
  Tensor output;
  Tensor gradient;
};
struct OutputsAndGradients {
  std::vector<Tensor> outputs;
  std::vector<Tensor> gradients;  // one per argument
};
struct OutputAndTangent {
  Tensor output;
  Tensor tangent;
};
struct OutputsAndTangents {
  std::vector<Tensor> outputs;
  std::vector<Tensor> tangents;  // one per output
};

/// A function of one tensor, one that gives a list, and a function of several tensors.
template <class F>
concept TensorFunction = requires(F& f, const Tensor& x) {
  { f(x) } -> std::convertible_to<Tensor>;
};
template <class F>
concept TensorToTensors = !TensorFunction<F> && requires(F & f, const Tensor& x) {
  { f(x) } -> std::convertible_to<std::vector<Tensor>>;
};
template <class F>
concept TensorsFunction = !TensorFunction<F> && std::invocable<F&, const std::vector<Tensor>&>;

namespace autograd {

using Tensors = std::vector<Tensor>;
using ManyToMany = std::function<Tensors(const Tensors&)>;

/// `f` as a function of a list that gives a list; it must outlive the result.
template <class F> ManyToMany many_to_many(F& f) {
  return [&f](const Tensors& x) -> Tensors {
    if constexpr (TensorFunction<F>)
      return {f(x[0])};
    else if constexpr (TensorToTensors<F>)
      return f(x[0]);
    else if constexpr (std::convertible_to<decltype(f(x)), Tensor>)
      return {f(x)};
    else
      return f(x);
  };
}
OutputsAndGradients vjp_of(const ManyToMany& f, const Tensors& x, const Tensors& v);
OutputsAndTangents jvp_of(const ManyToMany& f, const Tensors& x, const Tensors& v);

}  // namespace autograd

/// f(x) and v^T J, J being the Jacobian of f at x; v has the shape of f(x) and is 1 where absent and f(x) is one
/// number. Zeros where f(x) does not depend on x. Errors: ShapeError and GradientError for another shape of v,
/// DtypeError unless x is floating.
template <TensorFunction F> OutputAndGradient vjp(F&& f, const Tensor& x, const Tensor& v = {}) {
  OutputsAndGradients all = autograd::vjp_of(autograd::many_to_many(f), {x}, {v});
  return {std::move(all.outputs[0]), std::move(all.gradients[0])};
}
/// The same for several arguments and outputs: one v per output.
template <TensorsFunction F>
OutputsAndGradients vjp(F&& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v = {}) {
  return autograd::vjp_of(autograd::many_to_many(f), x, v);
}

/// f(x) and J v, v of x's shape: how f(x) changes when x moves along v. Zeros where f(x) does not depend on x.
///
/// It is computed as the gradient, with respect to w, of w^T J v: by the rules of backward and their own rules. So it
/// is right for each op that can be differentiated twice, which every op with a rule of its own can (the case table
/// checks it); an autograd::Function whose backward is not written with public ops has no tangent (GradientError or
/// zeros). The cost is about that of a forward, a backward and a backward of it: 3 to 4 times f, and f's graph in
/// memory.
template <TensorFunction F> OutputAndTangent jvp(F&& f, const Tensor& x, const Tensor& v) {
  OutputsAndTangents all = autograd::jvp_of(autograd::many_to_many(f), {x}, {v});
  return {std::move(all.outputs[0]), std::move(all.tangents[0])};
}
/// The same for several arguments and outputs: one v per argument, one tangent per output.
template <TensorsFunction F> OutputsAndTangents jvp(F&& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v) {
  return autograd::jvp_of(autograd::many_to_many(f), x, v);
}

}  // namespace weft
