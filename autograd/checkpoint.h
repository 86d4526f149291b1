// checkpoint: memory for time. What a function's ops would keep for backward is not kept but computed again when
// backward needs it.
//
//   Tensor y = autograd::checkpoint([&](const Tensor& t) { return block(t); }, x);
//
// The function's graph is recorded as usual, so that parameters it reads (captured, or of a module) get their
// gradients, grad() works, and gradients can be differentiated again; only the memory behind it is left out. The
// first node of the graph that runs backward and needs a value runs the function again, on the inputs that were kept,
// with the same random numbers (dropout) and under the same autocast.
//
// Known limits: the function must do the same when it is run again (GradientError where it saves other tensors), should
// not write to what it captures, and is kept (copied; a module by reference) until backward. Inputs and captured
// parameters must not be written in between: an error for inputs and parameters. Inside vmap, gradients of what is
// checkpointed are taken inside too: once the vmap has ended its samples are gone, and the function cannot run again (a
// GradientError). manual_seed() in the function takes effect in its first run alone.
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
template <class F, size_t... I>
decltype(auto) call_with(F& f, const std::vector<Tensor>& x, std::index_sequence<I...>) {
  return f(x[I]...);
}
/// What is copied is kept as a copy; a module as a reference to it.
template <class F>
using KeptFunction = std::conditional_t<std::copy_constructible<std::decay_t<F>>, std::decay_t<F>,
                                        std::reference_wrapper<std::remove_reference_t<F>>>;
}  // namespace checkpoint_detail

/// f(inputs...), whose ops keep nothing for backward but the inputs: a Tensor, or a std::vector<Tensor> where f gives
/// one. Without recording it is f(inputs...). Checkpoints nest. A module that is given must live until backward.
template <class F, std::same_as<Tensor>... Inputs>
  requires std::invocable<F&, const Inputs&...>
auto checkpoint(F&& f, const Inputs&... inputs) {
  using Result = std::decay_t<std::invoke_result_t<F&, const Inputs&...>>;
  static_assert(std::copy_constructible<std::decay_t<F>> || std::is_lvalue_reference_v<F>,
                "a module given to checkpoint must outlive it: pass a variable");
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
