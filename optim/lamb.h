// LAMB: Adam with each tensor's update scaled to the norm of the tensor, for large batches (You et al., arXiv
// 1904.00962).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// With Adam's m' and v': u = m' / (sqrt(v') + eps) + weight_decay p; p -= lr (|p| / |u|) u. The ratio |p| / |u| is 1
/// if either norm is 0. LAMBOptions is in optim/hyper_parameters.h. Options that a group does not set are those of
/// `options`.
class LAMB final : public OptimizerOf<LAMBOptions> {
 public:
  explicit LAMB(const std::vector<Tensor>& parameters, const LAMBOptions& options = {});
  explicit LAMB(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : LAMB(parameters, detail::with_lr<LAMBOptions>(lr)) {}
  explicit LAMB(const std::vector<LAMBGroup>& groups, const LAMBOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
