#include "optim/nadam.h"

#include <cmath>

#include "tensor/adjoints/optimizer_step.h"

namespace weft::optim {

NAdam::NAdam(const std::vector<Tensor>& parameters, const NAdamOptions& options)
    : OptimizerOf("NAdam", {"exp_avg", "exp_avg_sq"}, {"mu_product"}) {
  start(parameters, options);
}

NAdam::NAdam(const std::vector<NAdamGroup>& groups, const NAdamOptions& options)
    : OptimizerOf("NAdam", {"exp_avg", "exp_avg_sq"}, {"mu_product"}) {
  start(groups, options);
}

void NAdam::update(size_t group, Slot& slot, const Tensor& gradient) {
  const NAdamOptions& o = options(group);
  const auto [average, square] = states<2>(group, slot);
  const double momentum = o.beta1 * (1 - 0.5 * std::pow(0.96, static_cast<double>(slot.steps) * o.momentum_decay));
  const double product = (slot.steps == 1 ? 1 : slot.numbers[0]) * momentum;
  internal::optimizer_step(name(), op::NAdamStep{o, slot.steps, product}, slot.weights, gradient, average, square);
  slot.numbers[0] = product;  // after the step, which can fail
}

}  // namespace weft::optim
