// Adam (Kingma and Ba, arXiv 1412.6980) and AdamW (Loshchilov and Hutter, arXiv 1711.05101).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

namespace detail {
/// Base of Adam and AdamW.
class AdamBase : public OptimizerOf<AdamOptions> {
 protected:
  AdamBase(const char* name, bool decoupled);

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
  size_t least_states() const override { return 2; }
  bool wants_state(size_t group, const Tensor& /*parameter*/, size_t state) const override {
    return state < 2 || options(group).amsgrad;
  }

  bool decoupled_;
};
}  // namespace detail

/// g += weight_decay p; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; p -= lr m' / (sqrt(v') + eps),
/// where m' = m / (1 - beta1^t) and v' = v / (1 - beta2^t), with t counted from 1. AdamOptions is in
/// tensor/core/hyper_parameters.h. Options that a group does not set are those of `options`.
class Adam final : public detail::AdamBase {
 public:
  explicit Adam(const std::vector<Tensor>& parameters, const AdamOptions& options = {});
  explicit Adam(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : Adam(parameters, detail::with_lr<AdamOptions>(lr)) {}
  explicit Adam(const std::vector<AdamGroup>& groups, const AdamOptions& options = {});
};

/// Adam with decoupled weight decay: p *= 1 - lr weight_decay, instead of adding weight_decay p to the gradient.
class AdamW final : public detail::AdamBase {
 public:
  explicit AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options = {});
  explicit AdamW(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : AdamW(parameters, detail::with_lr<AdamWOptions>(lr)) {}
  explicit AdamW(const std::vector<AdamGroup>& groups, const AdamWOptions& options = {});
};

}  // namespace weft::optim
