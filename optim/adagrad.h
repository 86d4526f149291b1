// Adagrad (Duchi, Hazan and Singer, JMLR 12, 2011).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// g += weight_decay p; s += g^2; p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps), t counting from 1. PyTorch's.
/// AdagradOptions: tensor/core/hyper_parameters.h.
/// What a group leaves out is inherited from the options.
class Adagrad final : public OptimizerOf<AdagradOptions> {
 public:
  explicit Adagrad(const std::vector<Tensor>& parameters, const AdagradOptions& options = {});
  explicit Adagrad(const std::vector<AdagradGroup>& groups, const AdagradOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
