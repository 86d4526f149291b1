// update_bn(): recomputes the running statistics of batch norms for weights that were not trained themselves, such as
// the averages of optim::Swa and optim::Ema.
#pragma once

#include <utility>

#include "autograd/grad_mode.h"
#include "nn/module/mode_scope.h"

namespace weft::nn {
namespace detail {

/// While this object is alive, batch norms called on this thread average their running statistics with equal weights
/// and ignore `momentum`.
class PlainAverages {
 public:
  PlainAverages() : outer_(std::exchange(is_alive, true)) {}
  ~PlainAverages() { is_alive = outer_; }
  PlainAverages(const PlainAverages&) = delete;
  PlainAverages& operator=(const PlainAverages&) = delete;
  static bool alive() { return is_alive; }

 private:
  static inline thread_local bool is_alive = false;
  bool outer_;
};

/// Puts a model into training mode and resets the running statistics of its batch norms. The destructor restores the
/// mode of each module.
class FreshStatistics {
 public:
  explicit FreshStatistics(const Module& model);
  FreshStatistics(const FreshStatistics&) = delete;
  FreshStatistics& operator=(const FreshStatistics&) = delete;

 private:
  ModeScope modes_;
  PlainAverages plain_;
  NoGrad guard_;
};

}  // namespace detail

/// Sets the running statistics of all batch norms of `model` to their average over the batches of `loader`. A batch is
/// either a tensor or something whose element [0] is the input. Same as torch.optim.swa_utils.update_bn.
///   { auto averaged = swa.applied(); nn::update_bn(loader, model); evaluate(model); }
template <class Loader, class Model> void update_bn(Loader&& loader, Model& model) {
  const detail::FreshStatistics fresh(model);
  for (const auto& batch : loader) {
    const auto& input = [&]() -> const Tensor& {
      if constexpr (
          requires { batch[0].numel(); } && !requires { batch.numel(); })
        return batch[0];
      else
        return batch;
    }();
    if constexpr (requires { model(input); })
      (void)model(input);
    else
      (void)model.forward(input);
  }
}

}  // namespace weft::nn
