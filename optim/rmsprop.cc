#include "optim/rmsprop.h"

#include "tensor/adjoints/optimizer_step.h"

namespace weft::optim {
namespace {
constexpr const char* kName = "RMSprop";
const std::vector<const char*>& state_names() {
  static const std::vector<const char*> names = {"square_avg", "momentum_buffer", "grad_avg"};
  return names;
}
}  // namespace

RMSprop::RMSprop(const std::vector<Tensor>& parameters, const RMSpropOptions& options)
    : OptimizerOf(kName, state_names()) {
  start(parameters, options);
}

RMSprop::RMSprop(const std::vector<RMSpropGroup>& groups, const RMSpropOptions& options)
    : OptimizerOf(kName, state_names()) {
  start(groups, options);
}

bool RMSprop::wants_state(size_t group, const Tensor& /*parameter*/, size_t state) const {
  const RMSpropOptions& o = options(group);
  return state == 0 || (state == 1 ? o.momentum != 0 : o.centered);
}

void RMSprop::update(size_t group, Slot& slot, const Tensor& gradient) {
  const RMSpropOptions& o = options(group);
  const auto [square, buffer, average] = states<3>(group, slot);
  internal::optimizer_step(name(), op::RmspropStep{o}, slot.weights, gradient, square, buffer, average);
}

}  // namespace weft::optim
