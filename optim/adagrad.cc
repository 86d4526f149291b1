#include "optim/adagrad.h"

#include "tensor/adjoints/optimizer_step.h"

namespace weft::optim {

Adagrad::Adagrad(const std::vector<Tensor>& parameters, const AdagradOptions& options)
    : OptimizerOf("Adagrad", {"sum"}) {
  start(parameters, options);
}

Adagrad::Adagrad(const std::vector<AdagradGroup>& groups, const AdagradOptions& options)
    : OptimizerOf("Adagrad", {"sum"}) {
  start(groups, options);
}

void Adagrad::update(size_t group, Slot& slot, const Tensor& gradient) {
  const AdagradOptions& o = options(group);
  const bool first = !slot.states[0].defined();
  auto [sum] = states<1>(group, slot);
  if (first) sum.fill_(o.initial_accumulator_value);
  internal::optimizer_step(name(), op::AdagradStep{o, slot.steps}, slot.weights, gradient, sum);
}

}  // namespace weft::optim
