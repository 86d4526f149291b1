// DataParallel: data-parallel training. Every rank trains the same model on its own examples, and backward averages the
// gradients over all ranks.
//
//   distributed::DataParallel parallel(model, group);
//   Tensor loss = nn::cross_entropy(parallel(images), labels);
//   loss.backward();      // gradients are the mean over the ranks when it returns
//   optimizer.step();     // so all ranks take the same step
//
// The gradients after backward are bit-identical to those of one process that runs the ranks' batches one after the
// other and accumulates the gradients of loss / size (if size is a power of two; otherwise equal up to rounding). Three
// properties ensure this: sums are computed in rank order, dropout depends on the sample, and other random numbers
// depend on the batch, not on the rank. Gradients are views of buckets: after zero_grad() and the next backward, a
// Tensor that still holds an old gradient shows the new one.
//
// This applies to random numbers from the default generator. A module's own generator (set_generator()) does not know
// the rank: seed it differently on each rank, or all ranks drop the same positions of different samples.
//
// Limitations: parameters that are unfrozen later are not reduced, and backward with create_graph is an error. A hook
// on a gradient gets this rank's own, not the mean, and must be registered before the DataParallel is constructed: in a
// later one the gradient may or may not be reduced already.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>

#include "distributed/data_parallel/rank_random.h"
#include "distributed/data_parallel/reducer.h"

namespace weft::distributed {

/// The model must outlive this object. All ranks construct it at the same time, with the same model and with generators
/// in the same state; otherwise DistributedError, naming the first difference. Copies rank 0's parameters and buffers
/// to all ranks.
template <std::derived_from<nn::Module> Model> class DataParallel {
 public:
  DataParallel(Model& model, const Group& group, const DataParallelOptions& options = {})
      : model_(model), reducer_(std::make_shared<Reducer>(model, group, options)) {}

  /// Calls the model with the same arguments. The first Tensor argument must hold the samples along axis 0: dropout is
  /// drawn per sample, independent of the rank. All ranks must have the same number of samples.
  template <class... Arguments>
    requires std::invocable<Model&, const Arguments&...>
  auto operator()(const Arguments&... arguments) const {
    return with(samples_of(arguments...), [&](Model& model) { return model(arguments...); });
  }
  /// For models that have only forward().
  template <class... Arguments>
    requires(!std::invocable<Model&, const Arguments&...>)
  auto operator()(const Arguments&... arguments) const {
    return with(samples_of(arguments...), [&](Model& model) { return model.forward(arguments...); });
  }
  /// Runs call(model), for models with another interface, with the number of samples on this rank:
  /// `parallel.with(x.size(0), [&](Gpt& m) { return m.loss(x, y); })`. Without the number, the batch counts as one
  /// sample. Error for a negative number, in training.
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

  /// While the returned object is alive, backward accumulates gradients without reducing them. Use it for all but the
  /// last of several batches per step:
  ///   { auto local = parallel.no_sync(batch % 4 != 3); loss.backward(); }
  /// With `on` false it changes nothing. It must be the same on all ranks.
  [[nodiscard]] auto no_sync(bool on = true) const { return NoSync(*reducer_, on); }

  Model& module() const { return model_; }
  const Group& group() const { return reducer_->group(); }

 private:
  class NoSync {
   public:
    NoSync(Reducer& reducer, bool on) : reducer_(reducer), before_(reducer.is_synchronized()) {
      reducer_.set_synchronized(before_ && !on);
    }
    ~NoSync() { reducer_.set_synchronized(before_); }
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
