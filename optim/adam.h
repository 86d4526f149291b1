// Adam (Kingma and Ba, arXiv 1412.6980) and AdamW (Loshchilov and Hutter, arXiv 1711.05101).
#pragma once

#include <optional>

#include "optim/optimizer.h"

namespace weft::optim {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;    // decay of the mean
  double beta2 = 0.999;  // decay of the mean square
  double eps = 1e-8;
  double weight_decay = 0;  // L2: added to the gradient
  bool amsgrad = false;     // divides by the largest mean square so far (Reddi et al., ICLR 2018)
  bool maximize = false;    // climbs instead
};

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;  // decoupled: shrinks the parameter by lr * weight_decay
  bool amsgrad = false;
  bool maximize = false;
};

/// Parameters with options of their own; what is absent is inherited from the optimizer's options.
struct AdamGroup {
  std::vector<Tensor> parameters = {};
  std::optional<double> lr = std::nullopt;
  std::optional<double> beta1 = std::nullopt;
  std::optional<double> beta2 = std::nullopt;
  std::optional<double> eps = std::nullopt;
  std::optional<double> weight_decay = std::nullopt;
  std::optional<bool> amsgrad = std::nullopt;
  std::optional<bool> maximize = std::nullopt;
};

namespace detail {
/// What Adam and AdamW share.
class AdamBase : public Optimizer {
 protected:
  AdamBase(const char* name, bool decoupled);
  void add(const std::vector<Tensor>& parameters, const AdamOptions& options);
  void add(const std::vector<AdamGroup>& groups, const AdamOptions& options);

 private:
  std::vector<Number> numbers(size_t group) override;
  void update(size_t group, Slot& slot, const Tensor& gradient) override;

  bool decoupled_;
  std::vector<AdamOptions> options_;  // per group
};
}  // namespace detail

/// g += weight_decay p; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// p -= lr m' / (sqrt(v') + eps), where m' = m / (1 - beta1^t) and v' = v / (1 - beta2^t), t counting from 1.
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
