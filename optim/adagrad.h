// Adagrad (Duchi, Hazan and Singer, JMLR 12, 2011).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// g += weight_decay p; s += g^2; p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps), with t counted from 1. Same as
/// PyTorch. AdagradOptions is in tensor/core/hyper_parameters.h. Options that a group does not set are those of
/// `options`.
class Adagrad final : public OptimizerOf<AdagradOptions> {
 public:
  explicit Adagrad(const std::vector<Tensor>& parameters, const AdagradOptions& options = {});
  explicit Adagrad(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : Adagrad(parameters, detail::with_lr<AdagradOptions>(lr)) {}
  explicit Adagrad(const std::vector<AdagradGroup>& groups, const AdagradOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
