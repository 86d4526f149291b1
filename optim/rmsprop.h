// RMSprop (Tieleman and Hinton, "Lecture 6.5", 2012), plain, with momentum, and centered (Graves, arXiv 1308.0850).
#pragma once

#include <optional>

#include "optim/optimizer.h"

namespace weft::optim {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  // decay of the mean square
  double eps = 1e-8;
  double weight_decay = 0;  // L2: added to the gradient
  double momentum = 0;
  bool centered = false;  // divides by the standard deviation instead of the root mean square
  bool maximize = false;  // climbs instead
};

/// Parameters with options of their own; what is absent is inherited from the optimizer's options.
struct RMSpropGroup {
  std::vector<Tensor> parameters = {};
  std::optional<double> lr = std::nullopt;
  std::optional<double> alpha = std::nullopt;
  std::optional<double> eps = std::nullopt;
  std::optional<double> weight_decay = std::nullopt;
  std::optional<double> momentum = std::nullopt;
  std::optional<bool> centered = std::nullopt;
  std::optional<bool> maximize = std::nullopt;
};

/// g += weight_decay p; s = alpha s + (1 - alpha) g^2; u = g / (sqrt(s) + eps), centered: g / (sqrt(s - a^2) + eps) with
/// a = alpha a + (1 - alpha) g; b = momentum b + u; p -= lr b.
class RMSprop final : public Optimizer {
 public:
  explicit RMSprop(const std::vector<Tensor>& parameters, const RMSpropOptions& options = {});
  explicit RMSprop(const std::vector<RMSpropGroup>& groups, const RMSpropOptions& options = {});

 private:
  void add(const std::vector<Tensor>& parameters, const RMSpropOptions& options);
  std::vector<Number> numbers(size_t group) override;
  void update(size_t group, Slot& slot, const Tensor& gradient) override;

  std::vector<RMSpropOptions> options_;  // per group
};

}  // namespace weft::optim
