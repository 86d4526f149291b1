// Muon: momentum whose matrices are made orthogonal (Jordan et al., kellerjordan.github.io/posts/muon, 2024).
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// b = momentum b + (1 - momentum) g; u = b, with nesterov momentum b + (1 - momentum) g; u / |u| is taken near the
/// orthogonal matrix of the same singular vectors by ns_steps of x = ns_a x + (ns_b y + ns_c y y) x, y = x x^t;
/// p = (1 - lr weight_decay) p - rate u. PyTorch's, but in f32 or f64 where that is the parameter's dtype. For the
/// matrices inside of a model: Error for a parameter that is no matrix, which AdamW takes.
/// MuonOptions: optim/hyper_parameters.h. What a group leaves out is inherited from the options.
class Muon final : public OptimizerOf<MuonOptions> {
 public:
  explicit Muon(const std::vector<Tensor>& parameters, const MuonOptions& options = {});
  explicit Muon(const std::vector<MuonGroup>& groups, const MuonOptions& options = {});

 private:
  void update(size_t group, Slot& slot, const Tensor& gradient) override;
  void check_parameter(const Tensor& parameter) const override;
};

}  // namespace weft::optim
