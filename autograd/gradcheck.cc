// gradcheck: for each result y and input x, the analytic Jacobian (one backward per element of y) against the numeric one
// (two evaluations per element of x). The cost is in proportion to the number of elements: use small inputs.
//
// Known limits: kinks (relu at 0) give differences that are no errors; choose inputs away from them.
#include "autograd/gradcheck.h"

#include <cmath>

#include "autograd/backward.h"
#include "autograd/grad_mode.h"
#include "autograd/leaf.h"
#include "tensor/functions_all.h"

namespace weft {
namespace {

std::string index_text(int64_t flat, const Shape& shape) {
  Shape index = shape;
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return index.to_string();
}

/// The same numbers, NaN being equal to itself.
bool equal_bits(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  return true;
}

struct Checker {
  const CheckedFunctions& function;
  const GradcheckOptions& options;
  std::vector<Tensor> leaves;        // floating inputs as leaves, the others as they are
  std::vector<size_t> checked = {};  // numbers of the floating inputs
  std::string report = {};
  int64_t differences = 0;

  void fail(const std::string& line) {
    if (++differences <= options.max_reported) report += (report.empty() ? "" : "\n") + line;
  }

  std::vector<Tensor> values(const std::vector<Tensor>& at) const {
    NoGrad guard;
    return function(at);
  }

  /// dy/dx by central differences: row-major (elements of x, elements of y).
  std::vector<std::vector<double>> numeric(size_t input, size_t output) const {
    std::vector<Tensor> at = leaves;
    const std::vector<double> start = leaves[input].to_vector<double>();
    std::vector<std::vector<double>> rows;
    for (size_t i = 0; i < start.size(); ++i) {
      auto moved = [&](double step) {
        std::vector<double> values_at = start;
        values_at[i] += step;
        at[input] = Tensor::from(std::span<const double>(values_at), leaves[input].shape()).to(leaves[input].dtype());
        return values(at)[output].to_vector<double>();
      };
      const std::vector<double> up = moved(options.eps), down = moved(-options.eps);
      std::vector<double> row(up.size());
      for (size_t j = 0; j < row.size(); ++j) row[j] = (up[j] - down[j]) / (2 * options.eps);
      rows.push_back(std::move(row));
    }
    return rows;
  }

  /// d y[j] / dx for each checked input; undefined where nothing flows.
  std::vector<Tensor> analytic(const Tensor& y, int64_t j) const {
    std::vector<double> seed(static_cast<size_t>(y.numel()), 0.0);
    seed[static_cast<size_t>(j)] = 1.0;
    const Tensor s = Tensor::from(std::span<const double>(seed), y.shape()).to(y.dtype());
    std::vector<Tensor> wanted;
    for (size_t i : checked) wanted.push_back(leaves[i]);
    return grad({y}, wanted, {.retain_graph = true, .allow_unused = true, .seeds = {s}});
  }

  void check_output(const Tensor& y, size_t output) {
    if (!is_floating(y.dtype())) return;
    std::vector<std::vector<std::vector<double>>> expected;
    for (size_t i : checked) expected.push_back(numeric(i, output));
    for (int64_t j = 0; j < y.numel(); ++j) {
      std::vector<Tensor> found(checked.size()), again(checked.size());
      if (y.requires_grad()) found = analytic(y, j), again = analytic(y, j);
      for (size_t k = 0; k < checked.size(); ++k) compare(found[k], again[k], expected[k], y, j, output, checked[k]);
    }
  }

  void compare(const Tensor& found, const Tensor& again, const std::vector<std::vector<double>>& expected,
               const Tensor& y, int64_t j, size_t output, size_t input) {
    const Shape& shape = leaves[input].shape();
    const std::vector<double> got =
        found.defined() ? found.to_vector<double>() : std::vector<double>(expected.size(), 0.0);
    if (found.defined() && !equal_bits(got, again.to_vector<double>()))
      fail(text("output ", output, ": two backward runs give different gradients of input ", input));
    for (size_t i = 0; i < got.size(); ++i) {
      const double want = expected[i][static_cast<size_t>(j)];
      const bool close = std::abs(got[i] - want) <= options.atol + options.rtol * std::abs(want);
      if (close || (std::isnan(got[i]) && std::isnan(want))) continue;
      fail(text("d output", output, index_text(j, y.shape()), " / d input", input,
                index_text(static_cast<int64_t>(i), shape), ": backward gives ", got[i], ", differences give ", want,
                found.defined() ? "" : " (no gradient reaches this input)"));
    }
  }
};

}  // namespace

GradcheckResult gradcheck_all(const CheckedFunctions& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options) {
  EnableGrad guard;
  Checker checker{function, options, inputs};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || !is_floating(inputs[i].dtype())) continue;
    checker.leaves[i] = parameter(inputs[i].detach().clone());
    checker.checked.push_back(i);
  }
  if (checker.checked.empty()) throw GradientError("gradcheck: no floating input to check");
  const std::vector<Tensor> outputs = function(checker.leaves);
  for (size_t i = 0; i < outputs.size(); ++i) checker.check_output(outputs[i], i);
  if (checker.differences > options.max_reported)
    checker.report += text("\n... and ", checker.differences - options.max_reported, " more differences");
  return GradcheckResult(checker.report);
}

GradcheckResult gradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options) {
  return gradcheck_all([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{function(in)}; }, inputs,
                       options);
}

GradcheckResult gradgradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options) {
  // The function that is checked: the gradients of sum(w y), w being fixed numbers without a pattern.
  const CheckedFunctions gradients = [&](const std::vector<Tensor>& in) {
    EnableGrad guard;
    std::vector<Tensor> connected = in, wanted;
    for (size_t i = 0; i < in.size(); ++i) {
      if (!in[i].defined() || !is_floating(in[i].dtype())) continue;
      if (!in[i].requires_grad()) connected[i] = parameter(in[i]);
      wanted.push_back(connected[i]);
    }
    const Tensor y = function(connected);
    if (!y.requires_grad()) throw GradientError("gradgradcheck: no gradient reaches the result");
    const Tensor w = sin(arange(1, y.numel() + 1).to(y.dtype()) * 1.7).reshape(y.shape());
    std::vector<Tensor> found = grad({y}, wanted, {.create_graph = true, .allow_unused = true, .seeds = {w}});
    for (size_t i = 0; i < found.size(); ++i)
      if (!found[i].defined()) found[i] = zeros_like(wanted[i]);
    return found;
  };
  return gradcheck_all(gradients, inputs, options);
}

}  // namespace weft
