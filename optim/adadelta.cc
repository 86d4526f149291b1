#include "optim/adadelta.h"

#include "tensor/adjoints/optimizer_step.h"

namespace weft::optim {

Adadelta::Adadelta(const std::vector<Tensor>& parameters, const AdadeltaOptions& options)
    : OptimizerOf("Adadelta", {"square_avg", "acc_delta"}) {
  start(parameters, options);
}

Adadelta::Adadelta(const std::vector<AdadeltaGroup>& groups, const AdadeltaOptions& options)
    : OptimizerOf("Adadelta", {"square_avg", "acc_delta"}) {
  start(groups, options);
}

void Adadelta::update(size_t group, Slot& slot, const Tensor& gradient) {
  const AdadeltaOptions& o = options(group);
  const auto [square, change] = states<2>(group, slot);
  internal::optimizer_step(name(), op::AdadeltaStep{o}, slot.weights, gradient, square, change);
}

}  // namespace weft::optim
