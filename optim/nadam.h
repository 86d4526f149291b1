// NAdam: Adam with Nesterov's momentum (Dozat, ICLR workshop 2016).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// With Adam's m and v, b(t) = beta1 (1 - 0.96^(t momentum_decay) / 2) and B(t) = b(1) ... b(t), t counted from 1: p -=
/// lr (g (1 - b(t)) / (1 - B(t)) + m b(t + 1) / (1 - B(t + 1))) / (sqrt(v / (1 - beta2^t)) + eps). Same as PyTorch.
/// NAdamOptions is in tensor/core/hyper_parameters.h. Options that a group does not set are those of `options`.
class NAdam final : public OptimizerOf<NAdamOptions> {
 public:
  explicit NAdam(const std::vector<Tensor>& parameters, const NAdamOptions& options = {});
  explicit NAdam(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : NAdam(parameters, detail::with_lr<NAdamOptions>(lr)) {}
  explicit NAdam(const std::vector<NAdamGroup>& groups, const NAdamOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
