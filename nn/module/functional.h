// Modules as functions of their parameters: functional_call() and per-sample gradients.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/tensors_in.h"
#include "nn/module/module.h"
#include "tensor/core/owned.h"

namespace weft::autograd {
class ActiveScope;
}

namespace weft::nn {

/// While this object is alive, the parameters and buffers of a module are replaced by those of `state`; the destructor
/// restores the originals. The replacement is visible through every handle, including members of layers, so no other
/// thread may use the module meanwhile.
class ReplacedState {
 public:
  /// Names are those of state_dict(); tensors that `state` does not name stay unchanged. Error for a name that the
  /// module does not have, an undefined tensor, a different shape, or two different tensors for one shared parameter.
  /// Also for a weight that each call computes, as of a weight_norm(), unless it is `computed`.
  ReplacedState(const Module& module, const StateDict& state, const std::string& computed = {});
  ~ReplacedState();
  ReplacedState(const ReplacedState&) = delete;
  ReplacedState& operator=(const ReplacedState&) = delete;
  /// If `result` is, or contains in a list, tuple or optional, one of the replaced tensors itself, puts a tensor in its
  /// place that keeps the present value after the originals are restored.
  template <class T> void keep(T& result) const {
    namespace search = autograd::function_detail;
    if constexpr (std::same_as<T, Tensor>) {
      result = kept(result);
    } else if constexpr (search::OptionalValue<T>) {
      if (result) keep(*result);
    } else if constexpr (search::TupleOfValues<T>) {
      std::apply([&](auto&... parts) { (keep(parts), ...); }, result);
    } else if constexpr (search::ListOfValues<T>) {
      for (auto&& element : result) keep(element);
    }
  }

 private:
  Tensor kept(const Tensor& x) const;
  struct Pair {
    Tensor own;    // the module's
    Tensor given;  // while alive: holds what the module held before
  };
  class Exchange;
  class Replacement;
  Owned<Exchange> exchange_;
  Owned<autograd::ActiveScope> active_;
};

/// Returns module(inputs...), computed with the parameters and buffers of `state` in place of the module's own for this
/// one call. The originals are restored even if the call throws. The result can be differentiated with respect to the
/// tensors in `state`. A parameter shared by several modules is replaced in all of them; either name works. Buffer
/// updates (batch norm in training) are written to the tensors in `state`. A result may be a parameter itself, also in
/// a list, a tuple or an optional, but not in a struct. Errors as ReplacedState.
template <std::derived_from<Module> M, class... Inputs>
auto functional_call(M& module, const StateDict& state, const Inputs&... inputs) {
  const ReplacedState replaced(module, state);
  auto result = [&] {
    if constexpr (requires { module(inputs...); })
      return module(inputs...);
    else
      return module.forward(inputs...);
  }();
  replaced.keep(result);
  return result;
}

/// The states of models of one kind with a new first axis over the models, for an ensemble that runs at once:
///   vmap([&](const StateDict& s, const Tensor& x) { return nn::functional_call(net, s, x); }, {0, std::nullopt})(
///       nn::stack_states({a.state_dict(), b.state_dict()}), x);
/// Where weights are tied, take parameter_dict(), which has each of them once: functional_call() refuses two tensors
/// for one parameter. Error for no states or other names, ShapeError for other shapes.
StateDict stack_states(const std::vector<StateDict>& states);

namespace detail {
StateDict per_sample_grad(const Module& module,
                          const std::function<Tensor(const StateDict&, const std::vector<Tensor>&)>& loss,
                          const std::vector<Tensor>& batch);
template <class Loss, size_t... Is>
Tensor call_with_row(Loss& loss, const StateDict& parameters, const std::vector<Tensor>& row,
                     std::index_sequence<Is...>) {
  return loss(parameters, row[Is]...);
}
}  // namespace detail

/// The gradient of each sample's loss with respect to every parameter that requires a gradient: a dict by name, with
/// the samples as a new first axis. `loss(parameters, row...)` returns a 0-d loss for one sample, where the rows are
/// slices of `batch...` along axis 0; it usually calls functional_call(module, parameters, row). All samples are
/// computed at once with vmap.
///   auto gradients = nn::per_sample_grad(model, [&](const StateDict& p, const Tensor& x, const Tensor& y) {
///     return nn::mse_loss(nn::functional_call(model, p, x), y); }, inputs, targets);
/// ShapeError if the sizes of axis 0 differ, or if the loss has more than one element.
template <class Loss, std::same_as<Tensor>... Batch>
StateDict per_sample_grad(const Module& module, Loss&& loss, const Batch&... batch) {
  const auto of_row = [&](const StateDict& parameters, const std::vector<Tensor>& row) -> Tensor {
    return detail::call_with_row(loss, parameters, row, std::index_sequence_for<Batch...>());
  };
  return detail::per_sample_grad(module, of_row, {batch...});
}

}  // namespace weft::nn
