// Checking gradients against finite differences.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// Unset values get defaults for the narrowest dtype of the inputs. For f64 they are eps 1e-6, atol 1e-5 and rtol 1e-3;
/// for other dtypes the check is much less precise.
struct GradcheckOptions {
  std::optional<double> eps = {};   // step of the central difference, above 0
  std::optional<double> atol = {};  // |analytic - numeric| <= atol + rtol |numeric|
  std::optional<double> rtol = {};
  int64_t max_reported = 5;  // the maximum number of differences in the report
};

/// The result of gradcheck: true if all gradients agree.
class [[nodiscard]] GradcheckResult {
 public:
  GradcheckResult() = default;
  explicit GradcheckResult(std::string report) : report_(std::move(report)) {}
  explicit operator bool() const { return report_.empty(); }
  /// Empty if all gradients agree; else one line per difference with the output, the input, the index and both values.
  const std::string& report() const { return report_; }

 private:
  std::string report_;
};

/// A function with one result, or with several.
using CheckedFunction = std::function<Tensor(const std::vector<Tensor>&)>;
using CheckedFunctions = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// Compares the gradients of `function` at `inputs` with central differences, element by element. Every floating input
/// is treated as a leaf. Use f64: the rounding errors of f32 can hide a wrong gradient (the report says so). Also
/// reports gradients that differ between two backward runs, gradients that depend on the memory layout of the incoming
/// gradient (strided or expanded), and results that depend on an input that gets no gradient. NaN agrees with NaN.
/// Error if an option is out of its range. ShapeError if a result has another shape or dtype a step beside.
GradcheckResult gradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});
GradcheckResult gradcheck_all(const CheckedFunctions& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options = {});
/// Checks second-order gradients: runs gradcheck on the gradients of `function`, for a weighted sum of its result, with
/// weights without a pattern. These weights, the gradient that comes in, are an input too: the last one in the report.
/// GradientError if there is no floating input or the function is empty.
GradcheckResult gradgradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options = {});

}  // namespace weft
