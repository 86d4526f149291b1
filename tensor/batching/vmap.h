// vmap: a function of one sample becomes a function of a batch.
//
//   Tensor y = vmap([&](const Tensor& row) { return softmax(row, 0) * weight; })(batch);   // batch [B, n]
//
// Inside, tensors have one sample's shape, and every op computes all samples at once (an op without a batching rule
// runs sample by sample; the result is the same). Tensors from outside, such as `weight`, are the same for every
// sample. vmap nests, and mixes with gradients both ways: backward through its result, and grad(), vjp, jvp or
// jacobian inside of it, which give each sample its own gradient (also with respect to a tensor from outside).
//
// Known limits: values that differ between samples cannot be read inside (item(), to_vector(), printing: a DeviceError
// says so), so that shapes and branches cannot depend on them (masks, nonzero, unique, counts of repeat_interleave);
// checks of values, such as a probability's, look at all samples at once; a tensor from outside cannot be written to
// from samples in place (write to zeros_like() of an argument). A Function of the user's own (autograd/function.h) and
// checkpoint() have gradients inside only: to go through them from outside is a GradientError. Random numbers that are
// drawn for a sample (dropout, rand_like) are each sample's own; rand(shape) says nothing of samples and is the same
// for all.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// Which axis is the batch: one number for all arguments (or results), or one for each; nullopt for an argument that is
/// the same for every sample.
class BatchAxes {
 public:
  BatchAxes(int64_t axis) : axes_{axis} {}
  BatchAxes(int axis) : axes_{axis} {}
  BatchAxes(std::nullopt_t) : axes_{std::nullopt} {}
  BatchAxes(std::initializer_list<std::optional<int64_t>> axes) : axes_(axes), each_(true) {}
  explicit BatchAxes(std::vector<std::optional<int64_t>> axes) : axes_(std::move(axes)), each_(true) {}
  /// Of number `i` of `count`. Error where there are not `count` of them; `what` are `arguments` or `results`.
  std::optional<int64_t> of(size_t i, size_t count, const char* what) const;

 private:
  std::vector<std::optional<int64_t>> axes_;
  bool each_ = false;
};

namespace batching {
using Tensors = std::vector<Tensor>;
Tensors vmap(const std::function<Tensors(const Tensors&)>& f, const Tensors& arguments, const BatchAxes& in_dims,
             const BatchAxes& out_dims);
}  // namespace batching

/// What vmap returns: a function with the arguments of F, each with a batch axis.
template <class F> class Vmapped {
 public:
  Vmapped(F f, BatchAxes in_dims, BatchAxes out_dims)
      : f_(std::move(f)), in_dims_(std::move(in_dims)), out_dims_(std::move(out_dims)) {}

  /// ShapeError where batch sizes differ, IndexError where an argument has no such axis.
  template <std::same_as<Tensor>... Arguments>
    requires(sizeof...(Arguments) > 0 && std::invocable<const F&, const Arguments&...>)
  auto operator()(const Arguments&... arguments) const {
    return run(
        {arguments...},
        [&]<size_t... I>(const std::vector<Tensor>& x, std::index_sequence<I...>) { return f_(x[I]...); },
        std::index_sequence_for<Arguments...>());
  }
  /// For an F that takes a list.
  auto operator()(const std::vector<Tensor>& arguments) const requires std::invocable < const F&, const
      std::vector<Tensor>
  & > {
    return run(
        arguments, [&](const std::vector<Tensor>& x, std::index_sequence<>) { return f_(x); }, std::index_sequence<>());
  }

 private:
  template <class Call, class Sequence>
  auto run(const std::vector<Tensor>& arguments, const Call& call, Sequence sequence) const {
    using Result = decltype(call(arguments, sequence));
    constexpr bool kOne = std::convertible_to<Result, Tensor>;
    const auto many = [&](const std::vector<Tensor>& x) -> std::vector<Tensor> {
      if constexpr (kOne)
        return {call(x, sequence)};
      else
        return call(x, sequence);
    };
    std::vector<Tensor> results = batching::vmap(many, arguments, in_dims_, out_dims_);
    if constexpr (kOne)
      return Tensor(results[0]);
    else
      return results;
  }

  F f_;
  BatchAxes in_dims_;
  BatchAxes out_dims_;
};

/// f for a batch: each argument is taken apart along its axis of `in_dims`, f is applied to each sample (to all of
/// them at once), and the results are put together along their axes of `out_dims`. f takes Tensors, or one
/// std::vector<Tensor>, and gives a Tensor or a std::vector<Tensor>; an argument may be left whole (nullopt). A
/// result that does not differ between samples is repeated.
template <class F> Vmapped<std::decay_t<F>> vmap(F&& f, BatchAxes in_dims = 0, BatchAxes out_dims = 0) {
  return {std::forward<F>(f), std::move(in_dims), std::move(out_dims)};
}

}  // namespace weft
