// Modules as functions of their parameters: functional_call, and the gradients of single samples.
#pragma once

#include <concepts>
#include <functional>
#include <utility>
#include <vector>

#include "nn/module/module.h"

namespace weft::nn {

/// The parameters and buffers of a module are those of `state` while alive; afterwards they are what they were. Every
/// handle sees it (members of layers too), so that no other thread may use the module meanwhile.
class ReplacedState {
 public:
  /// Names as in state_dict(); those that `state` does not have stay. Error for a name that the module does not have,
  /// an undefined tensor, another shape, and for two tensors for one shared parameter.
  ReplacedState(const Module& module, const StateDict& state);
  ~ReplacedState();
  ReplacedState(const ReplacedState&) = delete;
  ReplacedState& operator=(const ReplacedState&) = delete;
  /// `x`, or where it is one of the replaced tensors itself, a tensor that stays what it is now.
  Tensor kept(const Tensor& x) const;

 private:
  void exchange() noexcept;
  struct Pair {
    Tensor own;    // the module's
    Tensor given;  // holds what the module's held, while alive
  };
  std::vector<Pair> pairs_;
};

/// module(inputs...) with the parameters and buffers of `state` in place of its own, for this one call, also where it
/// throws. The result can be differentiated with respect to them. Parameters that several modules share are replaced
/// in all of them by either name. Writes to buffers (batch norm in training) go to the tensors that are given. Errors
/// as ReplacedState.
template <std::derived_from<Module> M, class... Inputs>
auto functional_call(M& module, const StateDict& state, const Inputs&... inputs) {
  const ReplacedState replaced(module, state);
  auto result = [&] {
    if constexpr (requires { module(inputs...); })
      return module(inputs...);
    else
      return module.forward(inputs...);
  }();
  if constexpr (std::same_as<decltype(result), Tensor>)
    return replaced.kept(result);
  else
    return result;
}

namespace detail {
StateDict per_sample_grad(const Module& module,
                          const std::function<Tensor(const StateDict&, const std::vector<Tensor>&)>& loss,
                          const std::vector<Tensor>& batch);
template <class Loss, size_t... I>
Tensor call_with_row(Loss& loss, const StateDict& parameters, const std::vector<Tensor>& row,
                     std::index_sequence<I...>) {
  return loss(parameters, row[I]...);
}
}  // namespace detail

/// The gradient of each sample's loss with respect to every parameter that is not frozen: by name, with the samples
/// as a new first axis. `loss(parameters, row...)` gives one number for one sample (rows of `batch...` along axis 0),
/// mostly by functional_call(module, parameters, row). All samples are computed at once (vmap).
///   auto gradients = nn::per_sample_grad(model, [&](const StateDict& p, const Tensor& x, const Tensor& y) {
///     return mse_loss(nn::functional_call(model, p, x), y); }, inputs, targets);
/// ShapeError where sizes of the batch differ or the loss is more than one number.
template <class Loss, std::same_as<Tensor>... Batch>
StateDict per_sample_grad(const Module& module, Loss&& loss, const Batch&... batch) {
  const auto of_row = [&](const StateDict& parameters, const std::vector<Tensor>& row) -> Tensor {
    return detail::call_with_row(loss, parameters, row, std::index_sequence_for<Batch...>());
  };
  return detail::per_sample_grad(module, of_row, {batch...});
}

}  // namespace weft::nn
