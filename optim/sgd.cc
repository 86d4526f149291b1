#include "optim/sgd.h"

#include "tensor/adjoints/optimizer_step.h"

namespace weft::optim {
namespace {
constexpr const char* kName = "SGD";
constexpr const char* kBuffer = "momentum_buffer";
}  // namespace

SGD::SGD(const std::vector<Tensor>& parameters, const SGDOptions& options) : OptimizerOf(kName, {kBuffer}) {
  start(parameters, options);
}

SGD::SGD(const std::vector<SGDGroup>& groups, const SGDOptions& options) : OptimizerOf(kName, {kBuffer}) {
  start(groups, options);
}

void SGD::update(size_t group, Slot& slot, const Tensor& gradient) {
  const SGDOptions& o = options(group);
  const bool first = !slot.states[0].defined();
  const auto [buffer] = states<1>(group, slot);
  internal::optimizer_step(name(), op::SgdStep{o, first}, slot.weights, gradient, buffer);
}

}  // namespace weft::optim
