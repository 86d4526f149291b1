// SGD: stochastic gradient descent with momentum (Sutskever et al., ICML 2013).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// g += weight_decay p; b = momentum b + (1 - dampening) g (b = g in the first step); p -= lr b, or with nesterov p -=
/// lr (g + momentum b). The order of operations is PyTorch's, so that trajectories agree. SGDOptions is in
/// tensor/core/hyper_parameters.h. Options that a group does not set are those of `options`.
///   optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
///   optim::SGD optimizer(model.parameters(), 0.1);  // the other options at their defaults, in every optimizer
///   optim::SGD optimizer({{.parameters = weights, .weight_decay = 1e-4}, {.parameters = biases}}, {.lr = 0.1});
class SGD final : public OptimizerOf<SGDOptions> {
 public:
  explicit SGD(const std::vector<Tensor>& parameters, const SGDOptions& options = {});
  explicit SGD(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : SGD(parameters, detail::with_lr<SGDOptions>(lr)) {}
  explicit SGD(const std::vector<SGDGroup>& groups, const SGDOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
  size_t least_states() const override { return 0; }
  bool wants_state(size_t group, const Tensor& /*parameter*/, size_t /*state*/) const override {
    return options(group).momentum != 0;
  }
};

}  // namespace weft::optim
