// Checking gradients against finite differences.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

struct GradcheckOptions {
  double eps = 1e-6;   // step of the central difference
  double atol = 1e-5;  // |analytic - numeric| <= atol + rtol |numeric|
  double rtol = 1e-3;
  int64_t max_reported = 5;  // differences the report shows
};

/// What gradcheck found. True where all gradients agree.
class GradcheckResult {
 public:
  GradcheckResult() = default;
  explicit GradcheckResult(std::string report) : report_(std::move(report)) {}
  explicit operator bool() const { return report_.empty(); }
  /// Empty where all agree; else one line per difference: which output, which input, which index, both values.
  const std::string& report() const { return report_; }

 private:
  std::string report_;
};

/// One result, or several.
using CheckedFunction = std::function<Tensor(const std::vector<Tensor>&)>;
using CheckedFunctions = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// Compares the gradients of `function` at `inputs` with central differences, element by element. Every floating input is
/// a leaf; use f64. Also reports gradients that two backward runs give differently, and results that depend on an input
/// that no gradient reaches.
GradcheckResult gradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});
GradcheckResult gradcheck_all(const CheckedFunctions& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options = {});
/// The same for the gradients themselves (second order), with random but fixed weights of the results.
GradcheckResult gradgradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options = {});

}  // namespace weft
