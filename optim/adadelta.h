// Adadelta (Zeiler, arXiv 1212.5701).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// g += weight_decay p; s = rho s + (1 - rho) g^2; u = sqrt(d + eps) / sqrt(s + eps) g; d = rho d + (1 - rho) u^2; p -=
/// lr u. Same as PyTorch. AdadeltaOptions is in tensor/core/hyper_parameters.h. Options that a group does not set are
/// those of `options`.
class Adadelta final : public OptimizerOf<AdadeltaOptions> {
 public:
  explicit Adadelta(const std::vector<Tensor>& parameters, const AdadeltaOptions& options = {});
  explicit Adadelta(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : Adadelta(parameters, detail::with_lr<AdadeltaOptions>(lr)) {}
  explicit Adadelta(const std::vector<AdadeltaGroup>& groups, const AdadeltaOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
