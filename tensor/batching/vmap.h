// vmap: turns a function of one sample into a function of a batch.
//
//   Tensor y = vmap([&](const Tensor& row) { return softmax(row, 0) * weight; })(batch);   // batch [B, n]
//
// Inside of the function, tensors have the shape of one sample, and every op computes all samples at once (an op
// without a batching rule runs sample by sample, with the same result). Tensors from outside, such as `weight`, are the
// same for every sample. vmap nests and works with gradients in both directions: backward through its result, and
// grad(), vjp, jvp or jacobian inside of it, which give each sample its own gradient (also with respect to a tensor
// from outside). A write to an argument inside of the function is a write to the caller's tensor, once the function has
// returned; until then each argument is a copy, also if the same tensor is given twice.
//
// Known limits. Values that differ between samples cannot be read inside (item(), to_vector() and printing are a
// DeviceError), so shapes and branches cannot depend on them (masks, nonzero, unique, counts of repeat_interleave).
// Checks of values, for example of a probability, apply to all samples together. A tensor from outside cannot be
// written in place with samples (write to zeros_like() of an argument instead). detach() of a sample is a copy: a write
// to it does not reach the sample. Gradients through a user-defined Function (autograd/function.h) and through
// checkpoint() must be taken inside; outside they are a GradientError. Functions that draw random numbers for a sample
// (dropout, rand_like) draw different numbers for each sample; rand(shape) draws the same numbers for all samples.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/state_dict.h"
#include "tensor/tensor.h"

namespace weft {

/// The batch axis: one number for all arguments (or results), or one for each. nullopt means that an argument has no
/// batch axis and is the same for every sample.
class BatchAxes {
 public:
  BatchAxes(int64_t axis);
  BatchAxes(int axis) : BatchAxes(int64_t{axis}) {}
  BatchAxes(std::nullopt_t);
  BatchAxes(std::initializer_list<std::optional<int64_t>> axes);
  explicit BatchAxes(std::vector<std::optional<int64_t>> axes);
  /// The batch axis of number `i` of `count`. Error if the list does not have `count` axes; `what` is `arguments` or
  /// `results`, for the error.
  std::optional<int64_t> of(size_t i, size_t count, const char* what) const;
  /// The axes of the tensors in `count` arguments, of which the first is a dict of `named` tensors.
  BatchAxes spread(size_t named, size_t count) const;

 private:
  std::vector<std::optional<int64_t>> axes_;
  bool each_ = false;
};

/// Options of vmap().
struct VmapOptions {
  /// The number of samples that are computed at once; more need more memory. 0: all. The function is called for each
  /// such part of the batch, and what it draws for all samples, as by rand(shape), it draws for each part. What it
  /// writes to its arguments reaches them after each part: an error in a later part does not undo it.
  int64_t samples_at_once = 0;
};

namespace batching {
using Tensors = std::vector<Tensor>;
Tensors vmap(const std::function<Tensors(const Tensors&)>& f, const Tensors& arguments, const BatchAxes& in_dims,
             const BatchAxes& out_dims, const VmapOptions& options);
template <class F>
concept TakesList = std::invocable < const F&,
        const std::vector<Tensor>
& > ;
}  // namespace batching

/// The function that vmap returns: it takes the arguments of F, each with a batch axis.
template <class F> class Vmapped {
 public:
  Vmapped(F f, BatchAxes in_dims, BatchAxes out_dims, const VmapOptions& options)
      : f_(detail::not_empty("vmap", std::move(f))),
        in_dims_(std::move(in_dims)),
        out_dims_(std::move(out_dims)),
        options_(options) {}

  /// ShapeError if batch sizes differ or an argument with a batch axis is 0-d, IndexError if an argument does not have
  /// its batch axis.
  template <std::same_as<Tensor>... Arguments>
    requires(sizeof...(Arguments) > 0 && std::invocable<const F&, const Arguments&...>)
  auto operator()(const Arguments&... arguments) const {
    return run({arguments...}, in_dims_,
               [&](const std::vector<Tensor>& x) { return call(std::index_sequence_for<Arguments...>(), x, 0); });
  }
  /// For an F that takes a list.
  template <std::same_as<std::vector<Tensor>> List = std::vector<Tensor>>
    requires std::invocable<const F&, const List&>
  auto operator()(const List& arguments) const { return run(arguments, in_dims_, f_); }
  /// For an F that takes tensors by name, and then others: all in the dict have the first axis of `in_dims`.
  template <std::same_as<StateDict> Named = StateDict, std::same_as<Tensor>... Rest>
    requires std::invocable<const F&, const Named&, const Rest&...>
  auto operator()(const Named& named, const Rest&... rest) const {
    constexpr size_t kArguments = 1 + sizeof...(Rest);
    std::vector<Tensor> arguments;
    for (const auto& [name, tensor] : named) arguments.push_back(tensor);
    (arguments.push_back(rest), ...);
    return run(arguments, in_dims_.spread(named.size(), kArguments), [&](const std::vector<Tensor>& x) {
      StateDict samples;
      for (const auto& [name, tensor] : named) samples.emplace(name, x[samples.size()]);
      return call(std::index_sequence_for<Rest...>(), x, named.size(), samples);
    });
  }

 private:
  /// f_(named..., x[first], x[first + 1], ...)
  template <size_t... Is, class... Named>
  auto call(std::index_sequence<Is...>, const std::vector<Tensor>& x, size_t first, const Named&... named) const {
    return f_(named..., x[first + Is]...);
  }
  template <class Call>
  auto run(const std::vector<Tensor>& arguments, const BatchAxes& in_dims, const Call& call) const {
    using Made = std::decay_t<decltype(call(arguments))>;
    using Result = std::conditional_t<std::convertible_to<Made, Tensor>, Tensor, Made>;
    static_assert(detail::is_made_of_tensors<Result>,
                  "a function given to vmap returns a Tensor, a std::vector<Tensor>, a StateDict, or a std::pair or "
                  "std::tuple of these: of another struct, return its parts as std::pair(r.values, r.indices)");
    if constexpr (detail::is_made_of_tensors<Result>) {
      std::optional<Result> result;  // of the last call; its tensors are taken out
      std::vector<std::string> names;
      const auto many = [&](const std::vector<Tensor>& x) -> std::vector<Tensor> {
        Result made = call(x);
        std::vector<Tensor> out;
        std::vector<std::string> found;
        detail::visit_tensors(made, [&](Tensor& one, const std::string* name) {
          out.push_back(std::move(one));
          if (name != nullptr) found.push_back(*name);
        });
        if (result && found != names) throw Error("vmap: the function's results have other names than before");
        names = std::move(found);
        result.emplace(std::move(made));
        return out;
      };
      const std::vector<Tensor> results = batching::vmap(many, arguments, in_dims, out_dims_, options_);
      size_t i = 0;
      detail::visit_tensors(*result, [&](Tensor& one, const std::string*) { one = results[i++]; });
      return std::move(*result);
    }
  }

  F f_;
  BatchAxes in_dims_;
  BatchAxes out_dims_;
  VmapOptions options_;
};

/// f for a batch: splits each argument into samples along its axis of `in_dims` (nullopt: the argument is passed as it
/// is to every sample), applies f to all samples at once, and stacks the results along their axes of `out_dims`. f
/// takes Tensors, one std::vector<Tensor>, or a StateDict and Tensors, and returns a Tensor, a std::vector<Tensor>, a
/// StateDict, or a std::pair or std::tuple of these, whose tensors count one by one in `out_dims`. A result that is the
/// same for all samples is repeated.
template <class F>
Vmapped<std::decay_t<F>> vmap(F&& f, BatchAxes in_dims = 0, BatchAxes out_dims = 0, const VmapOptions& options = {}) {
  return {std::forward<F>(f), std::move(in_dims), std::move(out_dims), options};
}

}  // namespace weft
