// Adafactor: a mean square of a matrix that is kept as two vectors (Shazeer and Stern, arXiv 1804.04235).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// v is the mean square of g, which keeps 1 - t^beta2_decay of itself; of the last two axes only its means over rows
/// and over columns are kept, and v = rows columns / mean(rows). u = g / sqrt(v), scaled down to a root mean square of
/// d; p -= min(lr, 1 / sqrt(t)) max(eps2, rms(p)) u after p *= 1 - lr weight_decay. PyTorch's. AdafactorOptions:
/// optim/hyper_parameters.h. What a group leaves out is inherited from the options.
class Adafactor final : public OptimizerOf<AdafactorOptions> {
 public:
  explicit Adafactor(const std::vector<Tensor>& parameters, const AdafactorOptions& options = {});
  explicit Adafactor(const std::vector<AdafactorGroup>& groups, const AdafactorOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
  size_t least_states() const override { return 0; }
  Shape state_shape(const Tensor& parameter, size_t state) const override;
};

}  // namespace weft::optim
