// Functions with a gradient of the user's own.
//
//   struct Cube : autograd::Function<Cube> {
//     static Tensor forward(autograd::Context& context, const Tensor& x) { context.save(x); return x * x * x; }
//     static std::vector<Tensor> backward(autograd::Context& context, const Tensor& gradient) {
//       return {3.0 * context.saved(0) * context.saved(0) * gradient};
//     }
//   };
//   Tensor y = Cube::apply(x);
//
// forward takes tensors and plain arguments in any order and returns a Tensor, or a std::vector<Tensor> for several
// results; it runs under NoGrad. backward gets one gradient per result (undefined where nothing flowed) and returns one
// per tensor argument, undefined for zero. It can be differentiated again where it is written with public ops.
//
// Tensors may come in a std::vector, std::optional, std::tuple or another range: each counts as an argument, in order,
// an empty std::optional<Tensor> too. What cannot be looked into does not compile (tensors_in.h).
//
// A module comes as a pointer, its parameters beside it, `Adjoint::apply(x, &net, net.parameters())`, and a line says
// that no tensors are lost: `template <> inline constexpr bool weft::autograd::holds_no_tensors<Net*> = true;`
//
// backward runs under NoGrad unless create_graph: what it differentiates itself, by grad(), goes into an EnableGrad.
//
// Known limit: inside vmap, gradients that are taken inside go through a Function, those that are taken outside do not
// (a GradientError says so): its forward ran under NoGrad on all samples at once.
#pragma once

#include <any>
#include <map>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "autograd/grad_mode.h"
#include "autograd/tensors_in.h"

namespace weft::autograd {

namespace function_detail {
std::string readable_name(const std::type_info& type);
}

/// What forward leaves for backward.
class Context {
 public:
  Context();
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;
  /// Keeps tensors (inputs, results or others) for backward; writing to them in between is an error there.
  template <class... Tensors> void save(const Tensors&... tensors) { (save_one(tensors), ...); }
  /// The i-th saved tensor, with its history. IndexError out of range.
  const Tensor& saved(size_t i) const;
  /// Anything else that backward needs: `context["axis"] = int64_t{1}`, `context.get<int64_t>("axis")`.
  std::any& operator[](const std::string& name);
  /// Error where forward left nothing of that name, or something of another type.
  template <class T> const T& get(const std::string& name) const {
    const T* value = std::any_cast<T>(&value_of(name));
    if (value == nullptr) throw_wrong_type(name);
    return *value;
  }
  /// Whether tensor argument i needs a gradient.
  bool needs_gradient(size_t i) const { return i < needs_.size() && needs_[i]; }

 private:
  friend class FunctionNode;
  struct Pending;
  void save_one(const Tensor& tensor);
  const std::any& value_of(const std::string& name) const;
  [[noreturn]] void throw_wrong_type(const std::string& name) const;

  std::vector<Pending> pending_;  // as forward saved them
  std::vector<Tensor> unpacked_;  // while backward runs
  std::vector<bool> needs_;
  std::map<std::string, std::any> values_;
};

/// `backward` of a Function, its gradients as a list.
using FunctionBackward = std::vector<Tensor> (*)(Context&, const std::vector<Tensor>&);

namespace function_detail {
/// GradientError where recording is on and an input has a history that its memory no longer agrees with.
void check_inputs(const std::string& name, const std::vector<Tensor>& inputs);
/// Gives `outputs` their history where an input needs a gradient and recording is on.
void record_function(std::string name, Context context, FunctionBackward backward, const std::vector<Tensor>& inputs,
                     std::vector<Tensor>& outputs);

/// Calls backward(context, g0, g1, ...) or backward(context, vector of gradients).
template <class F> std::vector<Tensor> call_backward(Context& context, const std::vector<Tensor>& g) {
  if constexpr (requires { F::backward(context, g); })
    return F::backward(context, g);
  else if constexpr (requires { F::backward(context, g[0]); })
    return F::backward(context, g[0]);
  else if constexpr (requires { F::backward(context, g[0], g[1]); })
    return F::backward(context, g[0], g[1]);
  else
    return F::backward(context, g[0], g[1], g[2]);
}
}  // namespace function_detail

template <class Self> struct Function {
  /// Runs forward and records it.
  template <class... Arguments> static auto apply(const Arguments&... arguments) {
    std::vector<Tensor> inputs;
    (function_detail::collect(inputs, arguments), ...);
    std::string name = function_detail::readable_name(typeid(Self));
    function_detail::check_inputs(name, inputs);
    Context context;
    auto result = [&] {
      NoGrad guard;
      return Self::forward(context, arguments...);
    }();
    if constexpr (std::is_same_v<decltype(result), Tensor>) {
      std::vector<Tensor> outputs = {result};
      function_detail::record_function(std::move(name), std::move(context), &function_detail::call_backward<Self>,
                                       inputs, outputs);
      return outputs[0];
    } else {
      function_detail::record_function(std::move(name), std::move(context), &function_detail::call_backward<Self>,
                                       inputs, result);
      return result;
    }
  }
};

}  // namespace weft::autograd
