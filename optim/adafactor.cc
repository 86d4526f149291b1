#include "optim/adafactor.h"

#include <algorithm>
#include <cmath>

#include "tensor/functions/binary.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"

namespace weft::optim {
namespace {

double root_mean_square(const Tensor& x) { return norm(x).item<double>() / std::sqrt(static_cast<double>(x.numel())); }

/// The machine epsilon of the dtype in which steps compute.
double epsilon(DType dtype) { return dtype == f64 ? 0x1p-52 : 0x1p-23; }

}  // namespace

Adafactor::Adafactor(const std::vector<Tensor>& parameters, const AdafactorOptions& options)
    : OptimizerOf("Adafactor", {"row_var", "col_var", "variance"}) {
  start(parameters, options);
}

Adafactor::Adafactor(const std::vector<AdafactorGroup>& groups, const AdafactorOptions& options)
    : OptimizerOf("Adafactor", {"row_var", "col_var", "variance"}) {
  start(groups, options);
}

Shape Adafactor::state_shape(const Tensor& parameter, size_t state) const {
  Shape shape = parameter.shape();
  const size_t rank = static_cast<size_t>(parameter.dim());
  if (rank > 1 && state < 2) shape[rank - 1 - state] = 1;
  return shape;
}

bool Adafactor::needs_state(const Tensor& parameter, size_t state) const {
  return parameter.numel() > 0 && (state < 2) == (parameter.dim() > 1);
}

void Adafactor::update(size_t group, Slot& slot, const Tensor& gradient) {
  const AdafactorOptions& o = options(group);
  if (gradient.numel() == 0) return;
  Tensor parameter = slot.weights;
  const Tensor g = o.maximize ? -gradient : gradient;
  const auto t = static_cast<double>(slot.steps);
  const double scale = std::max(o.eps2, root_mean_square(parameter)) * std::min(o.lr, 1 / std::sqrt(t));
  const double floor = o.eps1 != 0 ? o.eps1 : epsilon(parameter.dtype());
  if (o.weight_decay != 0) parameter.mul_(1 - o.lr * o.weight_decay);
  const bool matrix = g.dim() > 1;
  auto [rows, columns, whole] = states<3>(group, slot);
  const double fresh = std::pow(t, o.beta2_decay);
  const auto follow = [&](Tensor& state, const Tensor& value) { state.add_((value - state) * fresh); };
  Tensor variance = whole;
  if (matrix) {
    follow(rows, mean(square(g), -1, keepdim));
    follow(columns, mean(square(g), -2, keepdim));
    variance = rows * columns / clip(mean(rows, -2, keepdim), floor, std::nullopt);
  } else {
    follow(whole, square(g));
  }
  const Tensor change = g * rsqrt(clip(variance, floor * floor, std::nullopt));
  parameter.sub_(change * (scale / std::max(1.0, root_mean_square(change) / o.d)));
}

}  // namespace weft::optim
