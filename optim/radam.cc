#include "optim/radam.h"

#include "tensor/adjoints/optimizer_step.h"

namespace weft::optim {

RAdam::RAdam(const std::vector<Tensor>& parameters, const RAdamOptions& options)
    : OptimizerOf("RAdam", {"exp_avg", "exp_avg_sq"}) {
  start(parameters, options);
}

RAdam::RAdam(const std::vector<RAdamGroup>& groups, const RAdamOptions& options)
    : OptimizerOf("RAdam", {"exp_avg", "exp_avg_sq"}) {
  start(groups, options);
}

void RAdam::update(size_t group, Slot& slot, const Tensor& gradient) {
  const RAdamOptions& o = options(group);
  const auto [average, square] = states<2>(group, slot);
  internal::optimizer_step(name(), op::RAdamStep{o, slot.steps}, slot.weights, gradient, average, square);
}

}  // namespace weft::optim
