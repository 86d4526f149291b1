// Adafactor: stores the mean square of a matrix as two vectors (Shazeer and Stern, arXiv 1804.04235).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// v is a running mean of g^2 with decay 1 - t^beta2_decay. For a parameter with two or more axes, only its means over
/// rows and over columns (the last two axes) are stored, and v = rows columns / mean(rows). u = g / sqrt(v), scaled
/// down so that its root mean square is at most d. Then p *= 1 - lr weight_decay and p -= min(lr, 1 / sqrt(t))
/// max(eps2, rms(p)) u. Same as PyTorch. AdafactorOptions is in optim/hyper_parameters.h. Options that a group does not
/// set are those of `options`.
class Adafactor final : public OptimizerOf<AdafactorOptions> {
 public:
  explicit Adafactor(const std::vector<Tensor>& parameters, const AdafactorOptions& options = {});
  explicit Adafactor(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : Adafactor(parameters, detail::with_lr<AdafactorOptions>(lr)) {}
  explicit Adafactor(const std::vector<AdafactorGroup>& groups, const AdafactorOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
  bool needs_state(const Tensor& parameter, size_t state) const override;
  bool wants_state(size_t /*group*/, const Tensor& parameter, size_t state) const override {
    return needs_state(parameter, state);
  }
  Shape state_shape(const Tensor& parameter, size_t state) const override;
};

}  // namespace weft::optim
