// RMSprop (Tieleman and Hinton, "Lecture 6.5", 2012), plain, with momentum, and centered (Graves, arXiv 1308.0850).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// g += weight_decay p; s = alpha s + (1 - alpha) g^2; u = g / (sqrt(s) + eps), or with centered u = g / (sqrt(s - a^2)
/// + eps), where a = alpha a + (1 - alpha) g; b = momentum b + u; p -= lr b. RMSpropOptions is in
/// tensor/core/hyper_parameters.h. Options that a group does not set are those of `options`.
class RMSprop final : public OptimizerOf<RMSpropOptions> {
 public:
  explicit RMSprop(const std::vector<Tensor>& parameters, const RMSpropOptions& options = {});
  explicit RMSprop(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : RMSprop(parameters, detail::with_lr<RMSpropOptions>(lr)) {}
  explicit RMSprop(const std::vector<RMSpropGroup>& groups, const RMSpropOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
  size_t least_states() const override { return 1; }
  bool wants_state(size_t group, const Tensor& parameter, size_t state) const override;
};

}  // namespace weft::optim
