// checkpoint (activation checkpointing): the tensors that the ops of a function would save for backward are not kept;
// backward recomputes them. This saves memory and costs time.
//
//   Tensor y = autograd::checkpoint([&](const Tensor& t) { return block(t); }, x);
//
// The graph of the function is recorded as usual, but without the saved tensors. So parameters that it reads (captured,
// or of a module) get their gradients, grad() works, and gradients can be differentiated again. The first node that
// runs backward and needs a saved tensor runs the function again, on the saved inputs, with the same random numbers
// (dropout), under the same autocast, and with the weights that nn::functional_call() had put in place. Batch norms
// count a batch once, and spectral_norm() uses the vectors of the first run.
//
// Known limits. The function must compute the same when it runs again (GradientError if it saves other tensors), and
// should not write to what it captures. It is kept until backward: as a copy, or by reference for a module. Writing to
// inputs or captured parameters before backward is an error. Inside vmap, gradients through a checkpoint must be taken
// inside the vmap too; after the vmap has ended, the function cannot run again (GradientError). manual_seed() in the
// function has an effect only in its first run. The graphs of vjp, jvp and jacobian inside the function keep what their
// ops save.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace weft::autograd {

std::vector<Tensor> checkpoint_of(std::function<std::vector<Tensor>(const std::vector<Tensor>&)> f,
                                  const std::vector<Tensor>& inputs);

namespace checkpoint_detail {
template <class F, size_t... Is>
decltype(auto) call_with(F& f, const std::vector<Tensor>& x, std::index_sequence<Is...>) {
  return f(x[Is]...);
}
/// A copyable function is kept as a copy, a module as a reference.
template <class F>
using KeptFunction = std::conditional_t<std::copy_constructible<std::decay_t<F>>, std::decay_t<F>,
                                        std::reference_wrapper<std::remove_reference_t<F>>>;
}  // namespace checkpoint_detail

/// f(inputs...), saving only the inputs for backward (with the limits above). Returns a Tensor, or a
/// std::vector<Tensor> if f does. If nothing is recorded, it just calls f. Checkpoints nest. A module passed as f must
/// exist until backward.
template <class F, std::same_as<Tensor>... Inputs>
  requires std::invocable<F&, const Inputs&...>
auto checkpoint(F&& f, const Inputs&... inputs) {
  using Result = std::decay_t<std::invoke_result_t<F&, const Inputs&...>>;
  static_assert(std::copy_constructible<std::decay_t<F>> || std::is_lvalue_reference_v<F>,
                "a module given to checkpoint must outlive it: pass a variable");
  weft::detail::check_not_empty("checkpoint", f);
  const auto many =
      [kept = checkpoint_detail::KeptFunction<F>(f)](const std::vector<Tensor>& x) mutable -> std::vector<Tensor> {
    auto results = checkpoint_detail::call_with(kept, x, std::index_sequence_for<Inputs...>());
    if constexpr (std::convertible_to<Result, Tensor>)
      return {std::move(results)};
    else
      return results;
  };
  std::vector<Tensor> results = checkpoint_of(many, {inputs...});
  if constexpr (std::convertible_to<Result, Tensor>)
    return Tensor(results[0]);
  else
    return results;
}

}  // namespace weft::autograd
