#include "optim/adam.h"

#include "tensor/adjoints/optimizer_step.h"

namespace weft::optim {
namespace detail {

AdamBase::AdamBase(const char* name, bool decoupled)
    : OptimizerOf(name, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}), decoupled_(decoupled) {}

void AdamBase::update(size_t group, Slot& slot, const Tensor& gradient) {
  const AdamOptions& o = options(group);
  const auto [average, square, largest] = states<3>(group, slot);
  internal::optimizer_step(name(), op::AdamStep{o, decoupled_, slot.steps}, slot.weights, gradient, average, square,
                           largest);
}

}  // namespace detail

Adam::Adam(const std::vector<Tensor>& parameters, const AdamOptions& options) : AdamBase("Adam", false) {
  start(parameters, options);
}
Adam::Adam(const std::vector<AdamGroup>& groups, const AdamOptions& options) : AdamBase("Adam", false) {
  start(groups, options);
}
AdamW::AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options) : AdamBase("AdamW", true) {
  start(parameters, detail::with_fields(AdamOptions(), options));
}
AdamW::AdamW(const std::vector<AdamGroup>& groups, const AdamWOptions& options) : AdamBase("AdamW", true) {
  start(groups, detail::with_fields(AdamOptions(), options));
}

}  // namespace weft::optim
