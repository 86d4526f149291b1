#include "optim/adamax.h"

#include "tensor/adjoints/optimizer_step.h"

namespace weft::optim {

Adamax::Adamax(const std::vector<Tensor>& parameters, const AdamaxOptions& options)
    : OptimizerOf("Adamax", {"exp_avg", "exp_inf"}) {
  start(parameters, options);
}

Adamax::Adamax(const std::vector<AdamaxGroup>& groups, const AdamaxOptions& options)
    : OptimizerOf("Adamax", {"exp_avg", "exp_inf"}) {
  start(groups, options);
}

void Adamax::update(size_t group, Slot& slot, const Tensor& gradient) {
  const AdamaxOptions& o = options(group);
  const auto [average, largest] = states<2>(group, slot);
  internal::optimizer_step(name(), op::AdamaxStep{o, slot.steps}, slot.weights, gradient, average, largest);
}

}  // namespace weft::optim
