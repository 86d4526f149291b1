#include "optim/adam.h"

#include "tensor/adjoints/optimizer_step.h"
#include "tensor/functions/unary.h"

namespace weft::optim {
namespace {

enum States : size_t { kAverage, kSquare, kLargest };

AdamOptions like_adam(const AdamWOptions& o) {
  return {.lr = o.lr,
          .beta1 = o.beta1,
          .beta2 = o.beta2,
          .eps = o.eps,
          .weight_decay = o.weight_decay,
          .amsgrad = o.amsgrad,
          .maximize = o.maximize};
}

}  // namespace

namespace detail {

AdamBase::AdamBase(const char* name, bool decoupled)
    : Optimizer(name, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}), decoupled_(decoupled) {}

void AdamBase::add(const std::vector<Tensor>& parameters, const AdamOptions& options) {
  check_number("lr", options.lr);
  check_fraction("beta1", options.beta1);
  check_fraction("beta2", options.beta2);
  check_number("eps", options.eps);
  check_number("weight_decay", options.weight_decay);
  add_group(parameters);
  options_.push_back(options);
}

void AdamBase::add(const std::vector<AdamGroup>& groups, const AdamOptions& options) {
  for (const AdamGroup& group : groups)
    add(group.parameters, {.lr = group.lr.value_or(options.lr),
                           .beta1 = group.beta1.value_or(options.beta1),
                           .beta2 = group.beta2.value_or(options.beta2),
                           .eps = group.eps.value_or(options.eps),
                           .weight_decay = group.weight_decay.value_or(options.weight_decay),
                           .amsgrad = group.amsgrad.value_or(options.amsgrad),
                           .maximize = group.maximize.value_or(options.maximize)});
}

std::vector<Optimizer::Number> AdamBase::numbers(size_t group) {
  AdamOptions& o = options_[group];
  return {{"lr", &o.lr},
          {"beta1", &o.beta1},
          {"beta2", &o.beta2},
          {"eps", &o.eps},
          {"weight_decay", &o.weight_decay},
          {"amsgrad", &o.amsgrad},
          {"maximize", &o.maximize}};
}

void AdamBase::update(size_t group, Slot& slot, const Tensor& gradient) {
  const AdamOptions& o = options_[group];
  internal::adam_step(slot.parameter, o.maximize ? -gradient : gradient, state(slot, kAverage), state(slot, kSquare),
                      o.amsgrad ? state(slot, kLargest) : Tensor(),
                      {.lr = o.lr,
                       .beta1 = o.beta1,
                       .beta2 = o.beta2,
                       .eps = o.eps,
                       .weight_decay = o.weight_decay,
                       .decoupled = decoupled_,
                       .step = slot.steps});
}

}  // namespace detail

Adam::Adam(const std::vector<Tensor>& parameters, const AdamOptions& options) : AdamBase("Adam", false) {
  add(parameters, options);
}
Adam::Adam(const std::vector<AdamGroup>& groups, const AdamOptions& options) : AdamBase("Adam", false) {
  add(groups, options);
}
AdamW::AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options) : AdamBase("AdamW", true) {
  add(parameters, like_adam(options));
}
AdamW::AdamW(const std::vector<AdamGroup>& groups, const AdamWOptions& options) : AdamBase("AdamW", true) {
  add(groups, like_adam(options));
}

}  // namespace weft::optim
