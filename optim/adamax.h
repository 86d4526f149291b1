// Adamax (Kingma and Ba, arXiv 1412.6980, section 7.1).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// g += weight_decay p; m = beta1 m + (1 - beta1) g; u = max(beta2 u, |g| + eps); p -= lr / (1 - beta1^t) m / u, with t
/// counted from 1. Same as PyTorch. AdamaxOptions is in tensor/core/hyper_parameters.h. Options that a group does not
/// set are those of `options`.
class Adamax final : public OptimizerOf<AdamaxOptions> {
 public:
  explicit Adamax(const std::vector<Tensor>& parameters, const AdamaxOptions& options = {});
  explicit Adamax(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : Adamax(parameters, detail::with_lr<AdamaxOptions>(lr)) {}
  explicit Adamax(const std::vector<AdamaxGroup>& groups, const AdamaxOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
