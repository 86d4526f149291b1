// Muon: momentum whose update matrices are orthogonalized (Jordan et al., kellerjordan.github.io/posts/muon, 2024).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// b = momentum b + (1 - momentum) g. u = b, or momentum b + (1 - momentum) g with nesterov. u / |u| is then
/// orthogonalized (its singular values are brought near 1) by ns_steps iterations of x = ns_a x + (ns_b y + ns_c y y)
/// x, where y = x x^t. p = (1 - lr weight_decay) p - rate u; see MuonFields for the rate. Same as PyTorch, but computed
/// in f32, or in f64 for f64 parameters, unless bf16_iterations is set. For the weight matrices inside a model: Error
/// for a parameter that does not have two axes; use AdamW for those. MuonOptions is in optim/hyper_parameters.h.
/// Options that a group does not set are those of `options`.
class Muon final : public OptimizerOf<MuonOptions> {
 public:
  explicit Muon(const std::vector<Tensor>& parameters, const MuonOptions& options = {});
  explicit Muon(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : Muon(parameters, detail::with_lr<MuonOptions>(lr)) {}
  explicit Muon(const std::vector<MuonGroup>& groups, const MuonOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
  void check_parameter(const Tensor& parameter) const override;
};

}  // namespace weft::optim
