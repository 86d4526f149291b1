// gradcheck: for each result y and input x, the analytic Jacobian (one backward per element of y) against the numeric
// one (two evaluations per element of x). The cost is in proportion to the number of elements: use small inputs. Then a
// few gradients once more from seeds in other memory layouts: with gaps, column-major, expanded.
//
// Known limits: kinks (relu at 0) give differences that are no errors; choose inputs away from them.
#include "autograd/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <iterator>

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
bool same_values(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  return true;
}

/// The options with defaults for those that are not set.
struct Limits {
  double eps, atol, rtol;
};

/// In a dtype with rounding u, differences of about u / eps + eps^2 come from rounding and curvature: eps is near the
/// cube root of u, and the tolerances are some way above what is left.
Limits limits_for(DType dtype) {
  switch (dtype) {
    case DType::f32: return {1e-2, 5e-3, 1e-2};
    case DType::f16: return {1e-1, 1e-1, 5e-2};
    case DType::bf16: return {2e-1, 2e-1, 2e-1};
    default: return {1e-6, 1e-5, 1e-3};
  }
}

/// The same values as `x`, column-major and with a gap after each element.
Tensor spread(const Tensor& x) {
  IntList backwards;
  for (int64_t axis = x.rank(); axis-- > 0;) backwards.push_back(axis);
  const Tensor reversed = x.permute(backwards);
  return stack({reversed, zeros_like(reversed)}, -1).contiguous().select(-1, 0).permute(backwards);
}

/// A tensor of these values, otherwise like `x`.
Tensor tensor_like(const Tensor& x, const std::vector<double>& values) {
  return Tensor::from(std::span<const double>(values), x.shape()).to(x.dtype()).to(x.device());
}

struct Checker {
  const CheckedFunctions& function;
  const GradcheckOptions& options;
  std::vector<Tensor> leaves;        // floating inputs as leaves, the others as they are
  std::vector<size_t> checked = {};  // numbers of the floating inputs
  DType narrowest = f64;             // of the checked inputs
  Limits limits = {};
  std::string report = {};
  int64_t differences = 0;

  void fail(const std::string& line) {
    if (++differences <= options.max_reported) report += (report.empty() ? "" : "\n") + line;
  }

  /// The values of result y at inputs beside those that are checked.
  std::vector<double> values_at(const std::vector<Tensor>& inputs, size_t output, const Tensor& y) const {
    const std::vector<Tensor> results = function(inputs);
    const Tensor found = output < results.size() ? results[output] : Tensor();
    if (!found.defined() || found.shape() != y.shape() || found.dtype() != y.dtype())
      throw ShapeError(text("gradcheck: output ", output, " is ", weft::describe(y), ", but ", weft::describe(found),
                            " at inputs a step beside"));
    return found.to_vector<double>();
  }

  /// dy/dx by central differences: row-major (elements of x, elements of y).
  std::vector<std::vector<double>> numeric(size_t input, size_t output, const Tensor& y) const {
    std::vector<Tensor> at = leaves;
    const std::vector<double> start = leaves[input].to_vector<double>();
    std::vector<std::vector<double>> rows;
    for (size_t i = 0; i < start.size(); ++i) {
      double distance = 0;  // as the dtype rounds it
      auto moved = [&](double step) {
        std::vector<double> values = start;
        values[i] += step;
        at[input] = parameter(tensor_like(leaves[input], values));
        if (narrowest != f64) values = at[input].to_vector<double>();
        distance += narrowest != f64 ? std::abs(values[i] - start[i]) : std::abs(step);
        return values_at(at, output, y);  // recording and at leaves, as it may take gradients itself
      };
      const std::vector<double> up = moved(limits.eps), down = moved(-limits.eps);
      std::vector<double> row(up.size());
      for (size_t j = 0; j < row.size(); ++j) row[j] = (up[j] - down[j]) / distance;
      rows.push_back(std::move(row));
    }
    return rows;
  }

  /// The gradient of each checked input from that of y; undefined where nothing flows.
  std::vector<Tensor> gradients(const Tensor& y, const Tensor& seed) const {
    std::vector<Tensor> wanted;
    for (size_t i : checked) wanted.push_back(leaves[i]);
    return grad({y}, wanted, {.retain_graph = true, .allow_unused = true, .seeds = {seed}});
  }

  /// d y[j] / dx for each checked input.
  std::vector<Tensor> analytic(const Tensor& y, int64_t j) const {
    std::vector<double> seed(static_cast<size_t>(y.numel()), 0.0);
    seed[static_cast<size_t>(j)] = 1.0;
    return gradients(y, tensor_like(y, seed));
  }

  bool is_close(double found, double want) const {
    return std::abs(found - want) <= limits.atol + limits.rtol * std::abs(want) ||
           (std::isnan(found) && std::isnan(want)) || found == want;
  }

  /// The gradients from `seed` and from `other`, which has the same values, agree.
  void check_layout(const Tensor& y, size_t output, const Tensor& seed, const Tensor& other, const char* what) {
    const std::vector<Tensor> right = gradients(y, seed), found = gradients(y, other);
    for (size_t k = 0; k < checked.size(); ++k) {
      if (!right[k].defined() && !found[k].defined()) continue;
      const std::string where =
          text("output ", output, ": from a gradient that is ", what, ", that of input ", checked[k]);
      if (right[k].defined() != found[k].defined()) {
        fail(where + (found[k].defined() ? " is defined" : " is undefined"));
        continue;
      }
      const std::vector<double> a = right[k].to_vector<double>(), b = found[k].to_vector<double>();
      for (size_t i = 0; i < a.size(); ++i) {
        if (is_close(b[i], a[i])) continue;
        fail(text(where, index_text(static_cast<int64_t>(i), leaves[checked[k]].shape()), " is ", b[i],
                  ", from one that is row-major ", a[i]));
        break;  // one place tells enough
      }
    }
  }

  void check_layouts(const Tensor& y, size_t output) {
    NoGrad guard;
    const Tensor uneven = cos(arange(1, y.numel() + 1).to(f64) * 1.3).to(y.dtype()).to(y.device()).reshape(y.shape());
    check_layout(y, output, uneven, spread(uneven), "strided");
    check_layout(y, output, ones_like(y.detach()), ones({}, y.dtype(), y.device()).expand(y.shape()), "expanded");
  }

  void check_output(const Tensor& y, size_t output) {
    if (!is_floating(y.dtype())) return;
    std::vector<std::vector<std::vector<double>>> expected;
    for (size_t i : checked) expected.push_back(numeric(i, output, y));
    for (int64_t j = 0; j < y.numel(); ++j) {
      std::vector<Tensor> found(checked.size()), again(checked.size());
      if (y.requires_grad()) found = analytic(y, j), again = analytic(y, j);
      for (size_t k = 0; k < checked.size(); ++k) compare(found[k], again[k], expected[k], y, j, output, checked[k]);
    }
    if (y.requires_grad()) check_layouts(y, output);
  }

  void compare(const Tensor& found, const Tensor& again, const std::vector<std::vector<double>>& expected,
               const Tensor& y, int64_t j, size_t output, size_t input) {
    const Shape& shape = leaves[input].shape();
    const std::vector<double> got =
        found.defined() ? found.to_vector<double>() : std::vector<double>(expected.size(), 0.0);
    if (found.defined() && !same_values(got, again.to_vector<double>()))
      fail(text("output ", output, ": two backward runs give different gradients of input ", input));
    for (size_t i = 0; i < got.size(); ++i) {
      const double want = expected[i][static_cast<size_t>(j)];
      if (is_close(got[i], want)) continue;
      fail(text("d output", output, index_text(j, y.shape()), " / d input", input,
                index_text(static_cast<int64_t>(i), shape), ": backward gives ", got[i], ", differences give ", want,
                found.defined() ? "" : " (no gradient reaches this input)"));
    }
  }
};

bool is_checked(const Tensor& input) { return input.defined() && is_floating(input.dtype()); }

/// A leaf in place of each input that is checked.
std::vector<Tensor> as_leaves(std::vector<Tensor> inputs) {
  for (Tensor& input : inputs)
    if (is_checked(input)) input = parameter(input.detach().clone());
  return inputs;
}

}  // namespace

GradcheckResult gradcheck_all(const CheckedFunctions& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options) {
  if (!function) throw GradientError("gradcheck: the function is empty");
  EnableGrad guard;
  Checker checker{function, options, as_leaves(inputs)};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_checked(inputs[i])) continue;
    checker.checked.push_back(i);
    if (size_of(inputs[i].dtype()) < size_of(checker.narrowest) || inputs[i].dtype() == bf16)
      checker.narrowest = inputs[i].dtype();
  }
  if (checker.checked.empty()) throw GradientError("gradcheck: no floating input to check");
  const Limits fit = limits_for(checker.narrowest);
  checker.limits = {options.eps.value_or(fit.eps), options.atol.value_or(fit.atol), options.rtol.value_or(fit.rtol)};
  if (!(checker.limits.eps > 0)) throw Error(text("gradcheck: eps must be positive, not ", checker.limits.eps));
  if (options.max_reported < 0)
    throw Error(text("gradcheck: max_reported must be 0 or more, not ", options.max_reported));
  const std::vector<Tensor> outputs = function(checker.leaves);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) throw Error(text("gradcheck: output ", i, " is undefined"));
    checker.check_output(outputs[i], i);
  }
  if (checker.differences > options.max_reported)
    checker.report += text("\n... and ", checker.differences - options.max_reported, " more differences");
  if (checker.differences > 0 && checker.narrowest != f64)
    checker.report +=
        text("\n(an input is ", checker.narrowest, ", whose rounding alone makes differences: check in f64)");
  return GradcheckResult(checker.report);
}

GradcheckResult gradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options) {
  if (!function) throw GradientError("gradcheck: the function is empty");
  return gradcheck_all([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{function(in)}; }, inputs,
                       options);
}

GradcheckResult gradgradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options) {
  if (!function) throw GradientError("gradgradcheck: the function is empty");
  if (std::none_of(inputs.begin(), inputs.end(), is_checked))
    throw GradientError("gradgradcheck: no floating input to check");
  EnableGrad guard;
  const Tensor result = function(as_leaves(inputs));
  if (!result.defined() || !result.requires_grad())
    throw GradientError("gradgradcheck: no gradient reaches the result");
  // The function that is checked: the gradients of sum(w y), of the inputs and of w, numbers without a pattern.
  std::vector<Tensor> at = inputs;
  at.push_back(sin(arange(1, result.numel() + 1).to(result.dtype()) * 1.7).to(result.device()).reshape(result.shape()));
  const CheckedFunctions gradients = [&](const std::vector<Tensor>& in) {
    const std::vector<Tensor> arguments(in.begin(), in.end() - 1);
    std::vector<Tensor> wanted;
    std::copy_if(arguments.begin(), arguments.end(), std::back_inserter(wanted), is_checked);
    std::vector<Tensor> found =
        grad({function(arguments)}, wanted, {.create_graph = true, .allow_unused = true, .seeds = {in.back()}});
    for (size_t i = 0; i < found.size(); ++i)
      if (!found[i].defined()) found[i] = zeros_like(wanted[i]);
    return found;
  };
  return gradcheck_all(gradients, at, options);
}

}  // namespace weft
