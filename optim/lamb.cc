#include "optim/lamb.h"

#include <cmath>

#include "tensor/functions/binary.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"

namespace weft::optim {

LAMB::LAMB(const std::vector<Tensor>& parameters, const LAMBOptions& options)
    : OptimizerOf("LAMB", {"exp_avg", "exp_avg_sq"}) {
  start(parameters, options);
}

LAMB::LAMB(const std::vector<LAMBGroup>& groups, const LAMBOptions& options)
    : OptimizerOf("LAMB", {"exp_avg", "exp_avg_sq"}) {
  start(groups, options);
}

void LAMB::update(size_t group, Slot& slot, const Tensor& gradient) {
  const LAMBOptions& o = options(group);
  auto [average, square] = states<2>(group, slot);
  Tensor parameter = slot.weights;
  const Tensor g = o.maximize ? -gradient : gradient;
  average.mul_(o.beta1).add_(g * (1 - o.beta1));
  square.mul_(o.beta2).add_(g * g * (1 - o.beta2));
  const auto t = static_cast<double>(slot.steps);
  const double correction1 = 1 - std::pow(o.beta1, t), correction2 = 1 - std::pow(o.beta2, t);
  Tensor change = average / correction1 / (sqrt(square / correction2) + o.eps);
  if (o.weight_decay != 0) change.add_(parameter * o.weight_decay);
  const double size = norm(parameter).item<double>(), change_size = norm(change).item<double>();
  const double trust = size == 0 || change_size == 0 ? 1 : size / change_size;
  parameter.sub_(change * (o.lr * trust));
}

}  // namespace weft::optim
