// LAMB: Adam whose change of a tensor is scaled to the tensor's norm, for large batches (You et al., arXiv 1904.00962).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// Adam's m' and v'; u = m' / (sqrt(v') + eps) + weight_decay p; p -= lr (|p| / |u|) u, where the quotient of the norms
/// is 1 where one of them is 0. LAMBOptions: optim/hyper_parameters.h. What a group leaves out is inherited from the
/// options.
class LAMB final : public OptimizerOf<LAMBOptions> {
 public:
  explicit LAMB(const std::vector<Tensor>& parameters, const LAMBOptions& options = {});
  explicit LAMB(const std::vector<LAMBGroup>& groups, const LAMBOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
