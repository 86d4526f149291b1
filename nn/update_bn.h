// update_bn(): the running statistics of batch norms anew, for weights that no step of training had (optim::Swa, Ema).
#pragma once

#include <utility>
#include <vector>

#include "autograd/grad_mode.h"
#include "nn/module/module.h"

namespace weft::nn {
namespace detail {

/// While alive, batch norms of the calling thread take plain averages, whatever their momentum.
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

/// A model in training, with batch norms that have seen nothing; each module gets its mode back.
class FreshStatistics {
 public:
  explicit FreshStatistics(const Module& model);
  ~FreshStatistics();
  FreshStatistics(const FreshStatistics&) = delete;
  FreshStatistics& operator=(const FreshStatistics&) = delete;

 private:
  std::vector<std::pair<Module, bool>> modes_;
  PlainAverages plain_;
  NoGrad guard_;
};

}  // namespace detail

/// Makes the running statistics of all batch norms of `model` the plain averages over the batches of `loader`: tensors,
/// or what has the input as its first element. PyTorch's torch.optim.swa_utils.update_bn.
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
