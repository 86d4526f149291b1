// Derivatives of functions in one direction: vjp (vector-Jacobian product) and jvp (Jacobian-vector product).
//
//   auto [y, gradient] = vjp([](const Tensor& x) { return sin(x) * x; }, x, v);
//
// The function takes a Tensor and returns a Tensor, or takes a std::vector<Tensor> and returns a Tensor or a
// std::vector<Tensor>. The arguments need not require a gradient, grad() of leaves does not change, and transforms
// nest. Results have history if recording is on and the function reads parameters or the arguments have history. The
// function must not write to its arguments (GradientError): it can write to a clone().
#pragma once

#include <concepts>
#include <functional>
#include <utility>
#include <vector>

#include "tensor/state_dict.h"
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
struct ValueAndGradients {
  Tensor value;
  StateDict gradients;
};
struct OutputAndTangent {
  Tensor output;
  Tensor tangent;
};
struct OutputsAndTangents {
  std::vector<Tensor> outputs;
  std::vector<Tensor> tangents;  // one per output
};

/// TensorToTensor: one tensor to one tensor. TensorToTensors: one tensor to a list. TensorsFunction: from a list.
template <class F>
concept TensorToTensor = requires(F& f, const Tensor& x) {
  { f(x) } -> std::convertible_to<Tensor>;
};
template <class F>
concept TensorToTensors = !TensorToTensor<F> && requires(F & f, const Tensor& x) {
  { f(x) } -> std::convertible_to<std::vector<Tensor>>;
};
template <class F>
concept TensorsFunction = !TensorToTensor<F> && std::invocable<F&, const std::vector<Tensor>&>;

namespace autograd {

using Tensors = std::vector<Tensor>;
using ManyToMany = std::function<Tensors(const Tensors&)>;

/// `f` as a function from a list to a list, for transform `name`. `f` must outlive the result. Error if it is empty.
template <class F> ManyToMany many_to_many(const char* name, F& f) {
  weft::detail::check_not_empty(name, f);
  return [&f](const Tensors& x) -> Tensors {
    if constexpr (TensorToTensor<F>)
      return {f(x[0])};
    else if constexpr (TensorToTensors<F>)
      return f(x[0]);
    else if constexpr (std::convertible_to<decltype(f(x)), Tensor>)
      return {f(x)};
    else
      return f(x);
  };
}
ValueAndGradients value_and_grad_of(const std::function<Tensor(const StateDict&)>& f, const StateDict& parameters);
OutputsAndGradients vjp_of(const char* name, const ManyToMany& f, const Tensors& x, const Tensors& v);
OutputsAndTangents jvp_of(const ManyToMany& f, const Tensors& x, const Tensors& v);

}  // namespace autograd

/// f(x) and v^T J, where J is the Jacobian of f at x. v has the shape of f(x); it may be omitted (and is 1) if f(x) has
/// one element. The gradient is zeros if f(x) does not depend on x. ShapeError or GradientError for another shape of v,
/// DtypeError unless x is floating.
template <TensorToTensor F> OutputAndGradient vjp(F&& f, const Tensor& x, const Tensor& v = {}) {
  OutputsAndGradients all = autograd::vjp_of("vjp", autograd::many_to_many("vjp", f), {x}, {v});
  return {std::move(all.outputs[0]), std::move(all.gradients[0])};
}
/// The same for several arguments and outputs: one v per output.
template <TensorsFunction F>
OutputsAndGradients vjp(F&& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v = {}) {
  return autograd::vjp_of("vjp", autograd::many_to_many("vjp", f), x, v);
}

/// f(parameters, rest...), which has one element, and its gradient with respect to each floating tensor of
/// `parameters`; f gets those of other dtypes as they are. Together with functional_call() and vmap this gives
/// gradients without writing to a module:
///   auto [loss, gradients] = value_and_grad([&](const StateDict& p, const Tensor& x) {
///     return nn::functional_call(net, p, x).pow(2).mean(); }, parameters, x);
/// ShapeError if f returns more than one element.
template <class F, std::same_as<Tensor>... Rest>
  requires(std::invocable<F&, const StateDict&, const Rest&...>)
ValueAndGradients value_and_grad(F&& f, const StateDict& parameters, const Rest&... rest) {
  return autograd::value_and_grad_of([&](const StateDict& p) -> Tensor { return f(p, rest...); }, parameters);
}

/// f(x) and J v, the directional derivative of f along v; v has x's shape. It is zeros if f(x) does not depend on x.
///
/// It is computed in reverse mode, as the gradient of w^T J v with respect to w (the "double backward" trick). So it
/// works for every op that can be differentiated twice, which all differentiable ops can (the case table tests it). An
/// autograd::Function whose backward is not written with public ops has no tangent (GradientError or zeros). The cost
/// is a forward, a backward and a backward through that: 3 to 4 times the cost of f, and the memory of f's graph.
template <TensorToTensor F> OutputAndTangent jvp(F&& f, const Tensor& x, const Tensor& v) {
  OutputsAndTangents all = autograd::jvp_of(autograd::many_to_many("jvp", f), {x}, {v});
  return {std::move(all.outputs[0]), std::move(all.tangents[0])};
}
/// The same for several arguments and outputs: one v per argument, one tangent per output.
template <TensorsFunction F> OutputsAndTangents jvp(F&& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v) {
  return autograd::jvp_of(autograd::many_to_many("jvp", f), x, v);
}

}  // namespace weft
