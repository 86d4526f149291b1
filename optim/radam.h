// RAdam: Adam with a rectified learning rate while the variance of the adaptive rate is large (Liu et al., arXiv
// 1908.03265).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// With Adam's m and v, r = 2 / (1 - beta2) - 1 and s = r - 2 t beta2^t / (1 - beta2^t), t counted from 1. If s > 5: p
/// -= lr m / (1 - beta1^t) sqrt((s - 4) (s - 2) r / ((r - 4) (r - 2) s)) sqrt(1 - beta2^t) / (sqrt(v) + eps).
/// Otherwise: p -= lr m / (1 - beta1^t). Same as PyTorch. RAdamOptions is in tensor/core/hyper_parameters.h. Options
/// that a group does not set are those of `options`.
class RAdam final : public OptimizerOf<RAdamOptions> {
 public:
  explicit RAdam(const std::vector<Tensor>& parameters, const RAdamOptions& options = {});
  explicit RAdam(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : RAdam(parameters, detail::with_lr<RAdamOptions>(lr)) {}
  explicit RAdam(const std::vector<RAdamGroup>& groups, const RAdamOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
