// Lion (Chen et al., "Symbolic discovery of optimization algorithms", arXiv 2302.06675).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// p = (1 - lr weight_decay) p - lr sign(beta1 m + (1 - beta1) g); m = beta2 m + (1 - beta2) g. LionOptions is in
/// tensor/core/hyper_parameters.h. Options that a group does not set are those of `options`.
class Lion final : public OptimizerOf<LionOptions> {
 public:
  explicit Lion(const std::vector<Tensor>& parameters, const LionOptions& options = {});
  explicit Lion(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : Lion(parameters, detail::with_lr<LionOptions>(lr)) {}
  explicit Lion(const std::vector<LionGroup>& groups, const LionOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
