// Rprop: resilient backpropagation, for full batches (Riedmiller and Braun, ICNN 1993).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// Every element has a step size s of its own, lr at first: s times eta_plus where g keeps its sign, eta_minus where it
/// changes (and there g = 0), limited to [min_step, max_step]; p -= s sign(g). PyTorch's.
/// RpropOptions: optim/hyper_parameters.h. What a group leaves out is inherited from the options.
class Rprop final : public OptimizerOf<RpropOptions> {
 public:
  explicit Rprop(const std::vector<Tensor>& parameters, const RpropOptions& options = {});
  explicit Rprop(const std::vector<RpropGroup>& groups, const RpropOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
