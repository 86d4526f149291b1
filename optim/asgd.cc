#include "optim/asgd.h"

#include <algorithm>
#include <cmath>

#include "tensor/functions/binary.h"
#include "tensor/functions/unary.h"

namespace weft::optim {

ASGD::ASGD(const std::vector<Tensor>& parameters, const ASGDOptions& options) : OptimizerOf("ASGD", {"ax"}) {
  start(parameters, options);
}

ASGD::ASGD(const std::vector<ASGDGroup>& groups, const ASGDOptions& options) : OptimizerOf("ASGD", {"ax"}) {
  start(groups, options);
}

void ASGD::update(size_t group, Slot& slot, const Tensor& gradient) {
  const ASGDOptions& o = options(group);
  auto [mean] = states<1>(group, slot);
  Tensor parameter = slot.weights;
  Tensor g = o.maximize ? -gradient : gradient;
  if (o.weight_decay != 0) g = g + parameter * o.weight_decay;
  const auto before = static_cast<double>(slot.steps - 1);
  const double eta = o.lr / std::pow(1 + o.lambd * o.lr * before, o.alpha);
  parameter.mul_(1 - o.lambd * eta).sub_(g * eta);
  const double share = 1 / std::max(1.0, before - o.t0);
  if (share == 1)
    mean.copy_(parameter);
  else
    mean.add_((parameter - mean) * share);
}

}  // namespace weft::optim
