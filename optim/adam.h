// Adam (Kingma and Ba, arXiv 1412.6980) and AdamW (Loshchilov and Hutter, arXiv 1711.05101).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

namespace detail {
/// What Adam and AdamW share.
class AdamBase : public OptimizerOf<AdamOptions> {
 protected:
  AdamBase(const char* name, bool decoupled);

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
  size_t least_states() const override { return 2; }

  bool decoupled_;
};
}  // namespace detail

/// g += weight_decay p; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// p -= lr m' / (sqrt(v') + eps), where m' = m / (1 - beta1^t) and v' = v / (1 - beta2^t), t counting from 1.
/// AdamOptions: tensor/core/hyper_parameters.h. What a group leaves out is inherited from the options.
class Adam final : public detail::AdamBase {
 public:
  explicit Adam(const std::vector<Tensor>& parameters, const AdamOptions& options = {});
  explicit Adam(const std::vector<AdamGroup>& groups, const AdamOptions& options = {});
};

/// Adam with p *= 1 - lr weight_decay in the place of a term in the gradient.
class AdamW final : public detail::AdamBase {
 public:
  explicit AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options = {});
  explicit AdamW(const std::vector<AdamGroup>& groups, const AdamWOptions& options = {});
};

}  // namespace weft::optim
