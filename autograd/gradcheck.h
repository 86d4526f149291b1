// Checking gradients against finite differences.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// What is not set fits the narrowest dtype of the inputs: 1e-6, 1e-5 and 1e-3 in f64; in others far less can be seen.
struct GradcheckOptions {
  std::optional<double> eps = {};   // step of the central difference
  std::optional<double> atol = {};  // |analytic - numeric| <= atol + rtol |numeric|
  std::optional<double> rtol = {};
  int64_t max_reported = 5;  // differences the report shows
};

/// What gradcheck found. True where all gradients agree.
class [[nodiscard]] GradcheckResult {
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

/// Compares the gradients of `function` at `inputs` with central differences, element by element. Every floating input
/// is a leaf. Use f64: f32 rounds away what tells a wrong gradient from a right one (the report then says so). Also
/// reports gradients that two backward runs give differently, gradients that depend on how the incoming one lies in
/// memory (strided or expanded), and results that depend on an input that no gradient reaches.
GradcheckResult gradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});
GradcheckResult gradcheck_all(const CheckedFunctions& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options = {});
/// The same for the gradients themselves (second order), with random but fixed weights of the results.
GradcheckResult gradgradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options = {});

}  // namespace weft
