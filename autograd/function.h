// Functions with a user-defined gradient.
//
//   struct Cube : autograd::Function<Cube> {
//     static Tensor forward(autograd::Context& context, const Tensor& x) { context.save(x); return x * x * x; }
//     static Tensor backward(autograd::Context& context, const Tensor& gradient) {
//       return 3.0 * context.saved(0) * context.saved(0) * gradient;
//     }
//   };
//   Tensor y = Cube::apply(x);
//
// forward takes tensors and other arguments in any order and returns a Tensor, or a std::vector<Tensor> for several
// results, of which some may be undefined. It runs under NoGrad. backward gets one gradient per result (undefined:
// zero), as up to three arguments or as a std::vector<Tensor>, and returns one per tensor argument (undefined: zero), a
// Tensor or a std::vector<Tensor>. If backward is written with public ops, it can be differentiated again. It must not
// write to the gradients, which may be those of other tensors too.
//
// Tensors may also be passed in a std::vector, std::optional, std::tuple or another range. Each tensor in it counts as
// one argument, in order, and so does an empty std::optional<Tensor>. An argument of a type that cannot be searched for
// tensors does not compile (tensors_in.h).
//
// A module is passed as a pointer, together with its parameters: `Adjoint::apply(x, &net, net.parameters())`. This
// needs a declaration that the pointer hides no further tensors:
// `template <> inline constexpr bool weft::autograd::holds_no_tensors<Net*> = true;`
//
// backward runs under NoGrad unless create_graph is set. A backward that itself calls grad() needs an EnableGrad scope.
//
// Known limits: if forward writes to an argument that has a history, the result is right, but the next use of the
// argument is a GradientError, because the write was not recorded. Inside vmap, gradients through a Function must be
// taken inside the vmap too; outside it is a GradientError, because forward ran under NoGrad on all samples at once.
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

/// The tensors and values that forward saves for backward.
class Context {
 public:
  Context();
  /// Of a call with these tensor arguments.
  explicit Context(const std::vector<Tensor>& inputs);
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;
  /// Saves tensors (inputs, results or others) for backward, in forward (else an Error). If they are written to before
  /// backward runs, backward is an error. Nothing is kept where no argument needs a gradient.
  template <class... Tensors> void save(const Tensors&... tensors) { (save_one(tensors), ...); }
  /// The i-th saved tensor, with its history. IndexError if there is none.
  const Tensor& saved(size_t i) const;
  /// Other values that backward needs: `context["axis"] = int64_t{1}`, `context.get<int64_t>("axis")`. Save a result by
  /// save(): here it would own itself, and its graph would never be freed.
  std::any& operator[](const std::string& name);
  /// Error if forward saved no value with this name, or one of another type.
  template <class T> const T& get(const std::string& name) const {
    const T* value = std::any_cast<T>(&value_of(name));
    if (value == nullptr) throw_wrong_type(name);
    return *value;
  }
  /// Whether tensor argument i needs a gradient; false where nothing is recorded.
  bool needs_gradient(size_t i) const { return i < needs_.size() && needs_[i]; }

 private:
  friend class FunctionNode;
  struct Pending;
  void save_one(const Tensor& tensor);
  const std::any& value_of(const std::string& name) const;
  [[noreturn]] void throw_wrong_type(const std::string& name) const;

  std::vector<Pending> pending_;  // the tensors that forward saved
  std::vector<Tensor> unpacked_;  // the saved tensors while backward runs
  std::vector<bool> needs_;
  bool in_forward_ = true;
  std::map<std::string, std::any> values_;
};

/// The `backward` of a Function; takes and returns gradients as lists.
using FunctionBackward = std::vector<Tensor> (*)(Context&, const std::vector<Tensor>&);

namespace function_detail {
/// GradientError if recording is on and the history of an input is stale because its memory was written to.
void check_inputs(const std::string& name, const std::vector<Tensor>& inputs);
/// Sets the history of `outputs` if recording is on and an input needs a gradient. Error where backward takes another
/// number of gradients (`arguments`; 0: any) than there are outputs.
void record_function(std::string name, Context context, FunctionBackward backward, size_t arguments,
                     const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);

inline std::vector<Tensor> as_list(std::vector<Tensor> gradients) { return gradients; }
inline std::vector<Tensor> as_list(const Tensor& gradient) { return {gradient}; }

/// As how many arguments backward takes the gradients; 0: as a list.
template <class F> constexpr size_t gradient_arguments() {
  if constexpr (requires(Context & context, const std::vector<Tensor>& g) { F::backward(context, g); })
    return 0;
  else if constexpr (requires(Context & context, const Tensor& g) { F::backward(context, g); })
    return 1;
  else if constexpr (requires(Context & context, const Tensor& g) { F::backward(context, g, g); })
    return 2;
  else
    return 3;
}

/// Calls backward(context, g0, g1, ...) or backward(context, vector of gradients).
template <class F> std::vector<Tensor> call_backward(Context& context, const std::vector<Tensor>& g) {
  constexpr size_t kArguments = gradient_arguments<F>();
  if constexpr (kArguments == 0)
    return as_list(F::backward(context, g));
  else if constexpr (kArguments == 1)
    return as_list(F::backward(context, g[0]));
  else if constexpr (kArguments == 2)
    return as_list(F::backward(context, g[0], g[1]));
  else
    return as_list(F::backward(context, g[0], g[1], g[2]));
}
}  // namespace function_detail

template <class Self> struct Function {
  /// Runs forward and records it.
  template <class... Arguments> static auto apply(const Arguments&... arguments) {
    std::vector<Tensor> inputs;
    (function_detail::collect(inputs, arguments), ...);
    std::string name = function_detail::readable_name(typeid(Self));
    function_detail::check_inputs(name, inputs);
    Context context(inputs);
    auto result = [&] {
      NoGrad guard;
      return Self::forward(context, arguments...);
    }();
    const auto record = [&](std::vector<Tensor>& outputs) {
      function_detail::record_function(std::move(name), std::move(context), &function_detail::call_backward<Self>,
                                       function_detail::gradient_arguments<Self>(), inputs, outputs);
    };
    if constexpr (std::is_same_v<decltype(result), Tensor>) {
      std::vector<Tensor> outputs = {result};
      record(outputs);
      return outputs[0];
    } else {
      record(result);
      return result;
    }
  }
};

}  // namespace weft::autograd
