// Rprop: resilient backpropagation, for full batches (Riedmiller and Braun, ICNN 1993).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// Every element has its own step size s, initially lr. s is multiplied by eta_plus if the sign of g is unchanged, and
/// by eta_minus if it changed (g is then set to 0). s is clamped to [min_step, max_step]. p -= s sign(g). Same as
/// PyTorch. RpropOptions is in optim/hyper_parameters.h. Options that a group does not set are those of `options`.
class Rprop final : public OptimizerOf<RpropOptions> {
 public:
  explicit Rprop(const std::vector<Tensor>& parameters, const RpropOptions& options = {});
  explicit Rprop(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : Rprop(parameters, detail::with_lr<RpropOptions>(lr)) {}
  explicit Rprop(const std::vector<RpropGroup>& groups, const RpropOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
