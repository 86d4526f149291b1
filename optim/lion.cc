#include "optim/lion.h"

#include "tensor/adjoints/optimizer_step.h"

namespace weft::optim {

Lion::Lion(const std::vector<Tensor>& parameters, const LionOptions& options) : OptimizerOf("Lion", {"exp_avg"}) {
  start(parameters, options);
}

Lion::Lion(const std::vector<LionGroup>& groups, const LionOptions& options) : OptimizerOf("Lion", {"exp_avg"}) {
  start(groups, options);
}

void Lion::update(size_t group, Slot& slot, const Tensor& gradient) {
  const LionOptions& o = options(group);
  const auto [average] = states<1>(group, slot);
  internal::optimizer_step(name(), op::LionStep{o}, slot.weights, gradient, average);
}

}  // namespace weft::optim
