#include "nn/clip.h"

#include <cmath>

#include "autograd/grad_mode.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/reduce.h"

namespace weft::nn {
namespace {
/// In 16 bits the norm would be rounded, and f16 ends at 65504.
Tensor exact_norm(const Tensor& x, double order) {
  return norm(is_half_precision(x.dtype()) ? cast(x, f32) : x, order);
}
}  // namespace

double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, const ClipOptions& options) {
  ErrorFrame frame("clip_grad_norm");
  if (!(max_norm >= 0)) throw Error(text("max_norm must be 0 or more, not ", max_norm));
  NoGrad guard;
  std::vector<Tensor> gradients, norms;
  for (const Tensor& parameter : parameters) {
    Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    const Tensor own = exact_norm(gradient, options.norm).reshape({1}).to(f64);
    norms.push_back(norms.empty() ? own : own.to(norms[0].device()));  // parts of a model may be on several devices
    gradients.push_back(std::move(gradient));
  }
  if (gradients.empty()) return 0;
  const double total = norm(cat(norms, 0), options.norm).item<double>();
  if (options.error_if_nonfinite && !std::isfinite(total)) throw Error(text("the norm of the gradients is ", total));
  const double factor = max_norm / (total + 1e-6);
  if (factor >= 1) return total;  // false for NaN
  for (Tensor& gradient : gradients) gradient.mul_(factor);
  return total;
}

void clip_grad_value(const std::vector<Tensor>& parameters, double value) {
  ErrorFrame frame("clip_grad_value");
  if (!(value >= 0)) throw Error(text("the limit must be 0 or more, not ", value));
  NoGrad guard;
  for (const Tensor& parameter : parameters) {
    Tensor gradient = parameter.grad();
    if (gradient.defined()) gradient.clip_(-value, value);
  }
}

}  // namespace weft::nn
