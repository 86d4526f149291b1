// SGD: stochastic gradient descent with momentum (Sutskever et al., ICML 2013).
#pragma once

#include <optional>

#include "optim/optimizer.h"

namespace weft::optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;     // of the gradient that enters the momentum
  double weight_decay = 0;  // L2: added to the gradient
  bool nesterov = false;    // needs momentum, and no dampening
  bool maximize = false;    // climbs instead
};

/// Parameters with options of their own; what is absent is inherited from the optimizer's options.
struct SGDGroup {
  std::vector<Tensor> parameters = {};
  std::optional<double> lr = std::nullopt;
  std::optional<double> momentum = std::nullopt;
  std::optional<double> dampening = std::nullopt;
  std::optional<double> weight_decay = std::nullopt;
  std::optional<bool> nesterov = std::nullopt;
  std::optional<bool> maximize = std::nullopt;
};

/// g += weight_decay p; b = momentum b + (1 - dampening) g (b = g in the first step); p -= lr b, with nesterov
/// p -= lr (g + momentum b). PyTorch's order, so that trajectories agree.
///   optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
///   optim::SGD optimizer({{.parameters = weights, .weight_decay = 1e-4}, {.parameters = biases}}, {.lr = 0.1});
class SGD final : public Optimizer {
 public:
  explicit SGD(const std::vector<Tensor>& parameters, const SGDOptions& options = {});
  explicit SGD(const std::vector<SGDGroup>& groups, const SGDOptions& options = {});

 private:
  void add(const std::vector<Tensor>& parameters, const SGDOptions& options);
  std::vector<Number> numbers(size_t group) override;
  void update(size_t group, Slot& slot, const Tensor& gradient) override;

  std::vector<SGDOptions> options_;  // per group
};

}  // namespace weft::optim
