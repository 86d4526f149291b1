#include "optim/sgd.h"

#include "tensor/adjoints/optimizer_step.h"
#include "tensor/functions/unary.h"

namespace weft::optim {
namespace {
constexpr const char* kName = "SGD";
constexpr const char* kBuffer = "momentum_buffer";
}  // namespace

SGD::SGD(const std::vector<Tensor>& parameters, const SGDOptions& options) : Optimizer(kName, {kBuffer}) {
  add(parameters, options);
}

SGD::SGD(const std::vector<SGDGroup>& groups, const SGDOptions& options) : Optimizer(kName, {kBuffer}) {
  for (const SGDGroup& group : groups)
    add(group.parameters, {.lr = group.lr.value_or(options.lr),
                           .momentum = group.momentum.value_or(options.momentum),
                           .dampening = group.dampening.value_or(options.dampening),
                           .weight_decay = group.weight_decay.value_or(options.weight_decay),
                           .nesterov = group.nesterov.value_or(options.nesterov),
                           .maximize = group.maximize.value_or(options.maximize)});
}

void SGD::add(const std::vector<Tensor>& parameters, const SGDOptions& options) {
  check_number("lr", options.lr);
  check_number("momentum", options.momentum);
  check_number("weight_decay", options.weight_decay);
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0))
    throw Error("SGD: nesterov needs momentum and no dampening");
  add_group(parameters);
  options_.push_back(options);
}

std::vector<Optimizer::Number> SGD::numbers(size_t group) {
  SGDOptions& o = options_[group];
  return {{"lr", &o.lr},
          {"momentum", &o.momentum},
          {"dampening", &o.dampening},
          {"weight_decay", &o.weight_decay},
          {"nesterov", &o.nesterov},
          {"maximize", &o.maximize}};
}

void SGD::update(size_t group, Slot& slot, const Tensor& gradient) {
  const SGDOptions& o = options_[group];
  bool first = false;
  const Tensor buffer = o.momentum != 0 ? state(slot, 0, &first) : Tensor();
  internal::sgd_step(slot.parameter, o.maximize ? -gradient : gradient, buffer,
                     {.lr = o.lr,
                      .momentum = o.momentum,
                      .dampening = o.dampening,
                      .weight_decay = o.weight_decay,
                      .nesterov = o.nesterov,
                      .first = first});
}

}  // namespace weft::optim
