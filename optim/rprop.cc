#include "optim/rprop.h"

#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"

namespace weft::optim {

Rprop::Rprop(const std::vector<Tensor>& parameters, const RpropOptions& options)
    : OptimizerOf("Rprop", {"prev", "step_size"}) {
  start(parameters, options);
}

Rprop::Rprop(const std::vector<RpropGroup>& groups, const RpropOptions& options)
    : OptimizerOf("Rprop", {"prev", "step_size"}) {
  start(groups, options);
}

void Rprop::update(size_t group, Slot& slot, const Tensor& gradient) {
  const RpropOptions& o = options(group);
  const bool first = !slot.states[1].defined();
  auto [previous, size] = states<2>(group, slot);
  if (first) size.fill_(o.lr);
  Tensor parameter = slot.weights;
  const Tensor g = o.maximize ? -gradient : gradient;
  const Tensor agreement = g * previous, turned = agreement < 0;
  const auto number = [&](double value) { return full({}, value, g.dtype(), g.device()); };
  const Tensor factor = where(agreement > 0, number(o.eta_plus), where(turned, number(o.eta_minus), number(1)));
  size.copy_(clip(size * factor, o.min_step, o.max_step));
  previous.copy_(where(turned, number(0), g));
  parameter.sub_(sign(previous) * size);
}

}  // namespace weft::optim
