// RAdam: Adam whose rate is rectified while its variance is large (Liu et al., arXiv 1908.03265).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// Adam's m and v; with r = 2 / (1 - beta2) - 1 and s = r - 2 t beta2^t / (1 - beta2^t), where s > 5,
/// p -= lr m / (1 - beta1^t) sqrt((s - 4) (s - 2) r / ((r - 4) (r - 2) s)) sqrt(1 - beta2^t) / (sqrt(v) + eps), and
/// p -= lr m / (1 - beta1^t) elsewhere, t counting from 1. PyTorch's. RAdamOptions: tensor/core/hyper_parameters.h.
/// What a group leaves out is inherited from the options.
class RAdam final : public OptimizerOf<RAdamOptions> {
 public:
  explicit RAdam(const std::vector<Tensor>& parameters, const RAdamOptions& options = {});
  explicit RAdam(const std::vector<RAdamGroup>& groups, const RAdamOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
