#include "optim/rmsprop.h"

#include <array>

#include "tensor/adjoints/optimizer_step.h"
#include "tensor/functions/unary.h"

namespace weft::optim {
namespace {
constexpr const char* kName = "RMSprop";
enum States : size_t { kSquare, kBuffer, kAverage };
constexpr std::array kStates = {"square_avg", "momentum_buffer", "grad_avg"};
}  // namespace

RMSprop::RMSprop(const std::vector<Tensor>& parameters, const RMSpropOptions& options)
    : Optimizer(kName, {kStates.begin(), kStates.end()}) {
  add(parameters, options);
}

RMSprop::RMSprop(const std::vector<RMSpropGroup>& groups, const RMSpropOptions& options)
    : Optimizer(kName, {kStates.begin(), kStates.end()}) {
  for (const RMSpropGroup& group : groups)
    add(group.parameters, {.lr = group.lr.value_or(options.lr),
                           .alpha = group.alpha.value_or(options.alpha),
                           .eps = group.eps.value_or(options.eps),
                           .weight_decay = group.weight_decay.value_or(options.weight_decay),
                           .momentum = group.momentum.value_or(options.momentum),
                           .centered = group.centered.value_or(options.centered),
                           .maximize = group.maximize.value_or(options.maximize)});
}

void RMSprop::add(const std::vector<Tensor>& parameters, const RMSpropOptions& options) {
  check_number("lr", options.lr);
  check_fraction("alpha", options.alpha);
  check_number("eps", options.eps);
  check_number("weight_decay", options.weight_decay);
  check_number("momentum", options.momentum);
  add_group(parameters);
  options_.push_back(options);
}

std::vector<Optimizer::Number> RMSprop::numbers(size_t group) {
  RMSpropOptions& o = options_[group];
  return {{"lr", &o.lr},
          {"alpha", &o.alpha},
          {"eps", &o.eps},
          {"weight_decay", &o.weight_decay},
          {"momentum", &o.momentum},
          {"centered", &o.centered},
          {"maximize", &o.maximize}};
}

void RMSprop::update(size_t group, Slot& slot, const Tensor& gradient) {
  const RMSpropOptions& o = options_[group];
  internal::rmsprop_step(
      slot.parameter, o.maximize ? -gradient : gradient, state(slot, kSquare),
      o.momentum != 0 ? state(slot, kBuffer) : Tensor(), o.centered ? state(slot, kAverage) : Tensor(),
      {.lr = o.lr, .alpha = o.alpha, .eps = o.eps, .weight_decay = o.weight_decay, .momentum = o.momentum});
}

}  // namespace weft::optim
