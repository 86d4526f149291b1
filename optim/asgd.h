// ASGD: averaged stochastic gradient descent (Polyak and Juditsky, SIAM J. Control Optim. 30, 1992).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// g += weight_decay p; p = (1 - lambd eta) p - eta g with eta = lr / (1 + lambd lr (t - 1))^alpha, t counted from 1.
/// The state `ax` is the mean of p since step t0: ax += (p - ax) / max(1, t - 1 - t0). Same as PyTorch, except that a
/// changed lr takes effect in the next step (PyTorch stores eta, so there it takes effect one step later). ASGDOptions
/// is in optim/hyper_parameters.h. Options that a group does not set are those of `options`.
class ASGD final : public OptimizerOf<ASGDOptions> {
 public:
  explicit ASGD(const std::vector<Tensor>& parameters, const ASGDOptions& options = {});
  explicit ASGD(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : ASGD(parameters, detail::with_lr<ASGDOptions>(lr)) {}
  explicit ASGD(const std::vector<ASGDGroup>& groups, const ASGDOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
};

}  // namespace weft::optim
