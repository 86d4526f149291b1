// DataParallel: a model that every rank trains on its own examples, with the gradients of all.
//
//   distributed::DataParallel parallel(model, group);
//   Tensor loss = nn::cross_entropy(parallel(images), labels);
//   loss.backward();      // gradients are the mean over the ranks when it returns
//   optimizer.step();     // so all ranks take the same step
//
// What backward leaves is, bit for bit, what one process has that runs the ranks' batches one after the other and adds
// up gradients of loss / size (where size is a power of two; else up to rounding): sums go in the order of the ranks,
// dropout belongs to the sample, and other random numbers to the batch and not to the rank. Gradients are views of
// buckets: after zero_grad() and the next backward, a Tensor that still holds an old gradient shows the new one.
//
// That is so for numbers of the process's generator. A generator of a module's own (set_generator()) knows nothing of
// ranks: seed it with the rank, or all ranks drop the same places of different samples.
//
// Not seen: parameters that are unfrozen later, and gradients with create_graph (an error). A hook that writes to a
// gradient must have been registered before.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "distributed/data_parallel/reducer.h"

namespace weft::distributed {

/// The model must outlive it. All ranks make one at the same time, of the same model and with generators in the same
/// state: DistributedError, naming the first difference, where not. Rank 0's parameters and buffers are copied to all.
template <std::derived_from<nn::Module> Model> class DataParallel {
 public:
  DataParallel(Model& model, const Group& group, const DataParallelOptions& options = {})
      : model_(model), reducer_(std::make_shared<Reducer>(model, group, options)) {}

  /// The model's call, with the same arguments, of which the first Tensor holds the samples along axis 0: each has
  /// dropout of its own, whatever rank it is on. All ranks have as many samples.
  template <class... Arguments>
    requires std::invocable<Model&, const Arguments&...>
  auto operator()(const Arguments&... arguments) const {
    return with(samples_of(arguments...), [&](Model& model) { return model(arguments...); });
  }
  /// For models with forward() alone.
  template <class... Arguments>
    requires(!std::invocable<Model&, const Arguments&...>)
  auto operator()(const Arguments&... arguments) const {
    return with(samples_of(arguments...), [&](Model& model) { return model.forward(arguments...); });
  }
  /// call(model), for models that are called in another way, with the number of samples on this rank:
  /// `parallel.with(x.size(0), [&](Gpt& m) { return m.loss(x, y); })`. Without it, the batch counts as one sample.
  template <class Call> auto with(const Call& call) const { return with(1, call); }
  template <class Call> auto with(int64_t samples, const Call& call) const {
    if (!model_.is_training()) return call(model_);
    reducer_->count_samples(samples);
    const RankRandomScope random(group().rank(), group().size(), samples);
    auto result = call(model_);
    if constexpr (std::is_same_v<decltype(result), Tensor>)
      if (result.requires_grad() && !result.is_leaf() && reducer_->bucket_count() > 0)
        result.register_hook([weak = std::weak_ptr(reducer_)](const Tensor&) {
          if (const auto reducer = weak.lock()) reducer->begin();
        });
    return result;
  }

  /// While what it returns is alive, backward adds up gradients and reduces nothing: for all but the last of several
  /// batches to a step.
  ///   { auto local = parallel.no_sync(); loss.backward(); }
  [[nodiscard]] auto no_sync() const { return NoSync(*reducer_); }

  Model& module() const { return model_; }
  const Group& group() const { return reducer_->group(); }

 private:
  class NoSync {
   public:
    explicit NoSync(Reducer& reducer) : reducer_(reducer), before_(reducer.is_synchronised()) {
      reducer_.set_synchronised(false);
    }
    ~NoSync() { reducer_.set_synchronised(before_); }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    Reducer& reducer_;
    bool before_;
  };

  static int64_t samples_of() { return 1; }
  template <class First, class... Rest> static int64_t samples_of(const First& first, const Rest&... rest) {
    if constexpr (std::is_same_v<First, Tensor>)
      return first.rank() > 0 ? first.size(0) : 1;
    else
      return samples_of(rest...);
  }

  Model& model_;
  std::shared_ptr<Reducer> reducer_;
};

}  // namespace weft::distributed
