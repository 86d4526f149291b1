// ASGD: averaged stochastic gradient descent (Polyak and Juditsky, SIAM J. Control Optim. 30, 1992).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// g += weight_decay p; p = (1 - lambd eta) p - eta g with eta = lr / (1 + lambd lr (t - 1))^alpha, t counting from 1;
/// the state `ax` is the mean of p since step t0: ax += (p - ax) / max(1, t - 1 - t0). PyTorch's, but that a
/// changed lr counts from the next step on (PyTorch keeps eta as its state, and takes a new lr a step later).
/// ASGDOptions: optim/hyper_parameters.h. What a group leaves out is inherited from the options.
class ASGD final : public OptimizerOf<ASGDOptions> {
 public:
  explicit ASGD(const std::vector<Tensor>& parameters, const ASGDOptions& options = {});
  explicit ASGD(const std::vector<ASGDGroup>& groups, const ASGDOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
