// Derivatives of functions in one direction: vjp (vector-Jacobian product), jvp (Jacobian-vector product), and
// linearize, which is jvp for several directions.
//
//   auto [y, gradient] = vjp([](const Tensor& x) { return sin(x) * x; }, x, v);
//
// The function takes a Tensor and returns a Tensor, or takes a std::vector<Tensor> and returns a Tensor or a
// std::vector<Tensor>. The arguments need not require a gradient, grad() of leaves does not change, and transforms
// nest. Results have history if recording is on and the function reads parameters or the arguments have history. The
// function must not write to its arguments (GradientError): it can write to a clone().
//
// For vjp, value_and_grad and jacobian the function may also give a second result, which is not differentiated, in a
// std::pair: a tensor, a list or state dict of tensors, a std::tuple of these, or anything without tensors. It is the
// last field of what they give, with history where other results have it.
//
//   auto [loss, gradients, logits] = value_and_grad([&](const StateDict& p) {
//     const Tensor logits = nn::functional_call(net, p, x);
//     return std::pair(nn::cross_entropy(logits, y), logits); }, net.parameter_dict());
#pragma once

#include <concepts>
#include <functional>
#include <optional>
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
struct OutputAndJvp {
  Tensor output;
  std::function<Tensor(const Tensor& v)> jvp;
};
struct OutputsAndJvp {
  std::vector<Tensor> outputs;
  std::function<std::vector<Tensor>(const std::vector<Tensor>& v)> jvp;
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
template <class T> inline constexpr bool is_pair = false;
template <class First, class Second> inline constexpr bool is_pair<std::pair<First, Second>> = true;
}  // namespace autograd

/// Whether F, called with an X, gives a result and a second one that is not differentiated.
template <class F, class X>
concept GivesAux = requires(F& f, const X& x) {
  requires autograd::is_pair<decltype(f(x))>;
};
template <class F>
concept TensorWithAux = GivesAux<F, Tensor> && requires(F& f, const Tensor& x) {
  { f(x).first } -> std::convertible_to<Tensor>;
};
template <class F>
concept TensorsWithAux = TensorsFunction<F> && GivesAux<F, std::vector<Tensor>>;

template <class Aux> struct OutputGradientAndAux {
  Tensor output;
  Tensor gradient;
  Aux aux;
};
template <class Aux> struct OutputsGradientsAndAux {
  std::vector<Tensor> outputs;
  std::vector<Tensor> gradients;  // one per argument
  Aux aux;
};
template <class Aux> struct ValueGradientsAndAux {
  Tensor value;
  StateDict gradients;
  Aux aux;
};

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
/// ShapeError of value_and_grad() unless `value` is one number.
void check_one_number(const Tensor& value);
/// `aux`: the tensors of a second result, which f sets. They lose a history that leads only to the arguments.
ValueAndGradients value_and_grad_of(const std::function<Tensor(const StateDict&)>& f, const StateDict& parameters,
                                    const std::vector<Tensor*>& aux = {});
OutputsAndGradients vjp_of(const char* name, const ManyToMany& f, const Tensors& x, const Tensors& v,
                           const std::vector<Tensor*>& aux = {});
OutputsAndTangents jvp_of(const ManyToMany& f, const Tensors& x, const Tensors& v);
/// f(x) and the function v -> J v.
std::pair<Tensors, ManyToMany> linearize_of(const ManyToMany& f, const Tensors& x);

/// The first result of f(X) as a function; its call keeps the second.
template <class F, class X> class WithoutAux {
 public:
  using Aux = typename std::invoke_result_t<F&, const X&>::second_type;
  WithoutAux(const char* name, F& f) : f_(f) { weft::detail::check_not_empty(name, f); }
  auto operator()(const X& x) {
    auto [result, aux] = f_(x);
    aux_.emplace(std::move(aux));
    weft::detail::visit_tensors(*aux_, [&](Tensor& one, const std::string*) { tensors_.push_back(&one); });
    return result;
  }
  /// The tensors in the second result, once there is one.
  const std::vector<Tensor*>& tensors() const { return tensors_; }
  Aux aux() { return std::move(*aux_); }

 private:
  F& f_;
  std::optional<Aux> aux_;
  std::vector<Tensor*> tensors_;
};
template <class X, class F> WithoutAux<F, X> without_aux(const char* name, F& f) { return {name, f}; }

/// vjp() for transform `name`.
template <TensorToTensor F> OutputAndGradient gradient_of(const char* name, F& f, const Tensor& x, const Tensor& v) {
  OutputsAndGradients all = vjp_of(name, many_to_many(name, f), {x}, {v});
  return {std::move(all.outputs[0]), std::move(all.gradients[0])};
}
template <TensorWithAux F> auto gradient_of(const char* name, F& f, const Tensor& x, const Tensor& v) {
  auto main = without_aux<Tensor>(name, f);
  auto all = vjp_of(name, many_to_many(name, main), {x}, {v}, main.tensors());
  return OutputGradientAndAux<typename decltype(main)::Aux>{std::move(all.outputs[0]), std::move(all.gradients[0]),
                                                            main.aux()};
}

}  // namespace autograd

/// f(x) and v^T J, where J is the Jacobian of f at x. v has the shape of f(x); it may be omitted (and is 1) if f(x) has
/// one element. The gradient is zeros if f(x) does not depend on x. ShapeError or GradientError for another shape of v,
/// DtypeError unless x is floating.
template <TensorToTensor F> OutputAndGradient vjp(F&& f, const Tensor& x, const Tensor& v = {}) {
  return autograd::gradient_of("vjp", f, x, v);
}
/// The same for several arguments and outputs: one v per output.
template <TensorsFunction F>
OutputsAndGradients vjp(F&& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v = {}) {
  return autograd::vjp_of("vjp", autograd::many_to_many("vjp", f), x, v);
}

/// The same for a function that gives a second result; see above.
template <TensorWithAux F> auto vjp(F&& f, const Tensor& x, const Tensor& v = {}) {
  return autograd::gradient_of("vjp", f, x, v);
}
template <TensorsWithAux F> auto vjp(F&& f, const std::vector<Tensor>& x, const std::vector<Tensor>& v = {}) {
  auto main = autograd::without_aux<autograd::Tensors>("vjp", f);
  auto all = autograd::vjp_of("vjp", autograd::many_to_many("vjp", main), x, v, main.tensors());
  return OutputsGradientsAndAux<typename decltype(main)::Aux>{std::move(all.outputs), std::move(all.gradients),
                                                              main.aux()};
}

/// f(parameters, rest...), which has one element, and its gradient with respect to each floating tensor of
/// `parameters`; f gets those of other dtypes as they are. Together with functional_call() and vmap this gives
/// gradients without writing to a module:
///   auto [loss, gradients] = value_and_grad([&](const StateDict& p, const Tensor& x) {
///     return nn::functional_call(net, p, x).pow(2).mean(); }, parameters, x);
/// ShapeError if f returns more than one element.
template <class F, std::same_as<StateDict> Named = StateDict, std::same_as<Tensor>... Rest>
  requires(std::invocable<F&, const Named&, const Rest&...>)
auto value_and_grad(F&& f, const Named& parameters, const Rest&... rest) {
  auto of_parameters = [&](const StateDict& p) { return f(p, rest...); };
  if constexpr (GivesAux<decltype(of_parameters), StateDict>) {
    auto main = autograd::without_aux<StateDict>("value_and_grad", of_parameters);
    auto all = autograd::value_and_grad_of(std::ref(main), parameters, main.tensors());
    return ValueGradientsAndAux<typename decltype(main)::Aux>{std::move(all.value), std::move(all.gradients),
                                                              main.aux()};
  } else {
    return autograd::value_and_grad_of(of_parameters, parameters);
  }
}
/// The same for a function of a tensor: f(x, rest...), which has one element, and its gradient with respect to x.
///   auto [loss, gradient] = value_and_grad([](const Tensor& w) { return square(w).sum(); }, w);
template <class F, std::same_as<Tensor> X, std::same_as<Tensor>... Rest>
  requires(std::invocable<F&, const X&, const Rest&...>)
auto value_and_grad(F&& f, const X& x, const Rest&... rest) {
  auto of_x = [&](const Tensor& first) {
    auto result = f(first, rest...);
    if constexpr (autograd::is_pair<decltype(result)>)
      autograd::check_one_number(result.first);
    else
      autograd::check_one_number(result);
    return result;
  };
  return autograd::gradient_of("value_and_grad", of_x, x, {});
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

/// f(x), and the linear function v -> J v, the jvp() of f at x for any number of directions. f runs only here; each
/// call costs a backward through f's backward. The function keeps the graph of f, and can be copied and outlive f and
/// x. One thread at a time may call it and its copies. Where results have history, they share that graph: a backward()
/// from one needs retain_graph if another follows.
template <TensorToTensor F> OutputAndJvp linearize(F&& f, const Tensor& x) {
  auto [outputs, jvp] = autograd::linearize_of(autograd::many_to_many("linearize", f), {x});
  return {std::move(outputs[0]), [jvp = std::move(jvp)](const Tensor& v) { return jvp({v})[0]; }};
}
/// The same for several arguments and outputs: one v per argument, one tangent per output.
template <TensorsFunction F> OutputsAndJvp linearize(F&& f, const std::vector<Tensor>& x) {
  auto [outputs, jvp] = autograd::linearize_of(autograd::many_to_many("linearize", f), x);
  return {std::move(outputs), std::move(jvp)};
}

}  // namespace weft
