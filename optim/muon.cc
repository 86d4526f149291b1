#include "optim/muon.h"

#include <algorithm>
#include <cmath>

#include "tensor/adjoints/matmul.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/blend.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"

namespace weft::optim {
namespace {

/// Iterations on the smaller side's products; of bf16 and f16 parameters in f32. The factor of x is rounded to bf16
/// once, where x is: rounded term by term, it would have three times PyTorch's error.
Tensor orthogonal(const Tensor& change, const MuonOptions& o) {
  const bool tall = change.size(0) > change.size(1);
  const DType wide = change.dtype() == f64 && !o.bf16_iterations ? f64 : f32;
  Tensor x = cast(change, o.bf16_iterations ? bf16 : wide);
  if (tall) x = x.t().contiguous();
  x = x / std::max(norm(x).item<double>(), o.eps);
  for (int64_t i = 0; i < o.ns_steps; ++i) {
    const Tensor y = adjoint::gram(x, x.dtype());  // symmetric
    Tensor factor = cast(y, wide) * o.ns_b + adjoint::gram(y, wide) * o.ns_c;
    diagonal(factor).add_(o.ns_a);
    x = matmul(cast(factor, x.dtype()), x);
  }
  return cast(tall ? x.t() : x, change.dtype());
}

}  // namespace

Muon::Muon(const std::vector<Tensor>& parameters, const MuonOptions& options)
    : OptimizerOf("Muon", {"momentum_buffer"}) {
  start(parameters, options);
}

Muon::Muon(const std::vector<MuonGroup>& groups, const MuonOptions& options)
    : OptimizerOf("Muon", {"momentum_buffer"}) {
  start(groups, options);
}

void Muon::check_parameter(const Tensor& parameter) const {
  if (parameter.dim() != 2)
    throw ShapeError(text("takes matrices, not a parameter of shape ", parameter.shape(), "; give it to AdamW"));
}

void Muon::update(size_t group, Slot& slot, const Tensor& gradient) {
  const MuonOptions& o = options(group);
  auto [buffer] = states<1>(group, slot);
  if (gradient.numel() == 0) return;
  Tensor parameter = slot.weights;
  const Tensor g = o.maximize ? -gradient : gradient;
  buffer.lerp_(g, 1 - o.momentum);
  const Tensor change = orthogonal(o.nesterov ? lerp(g, buffer, o.momentum) : buffer, o);
  const auto rows = static_cast<double>(g.size(0)), columns = static_cast<double>(g.size(1));
  const double ratio =
      o.match_rms_adamw ? 0.2 * std::sqrt(std::max(rows, columns)) : std::sqrt(std::max(1.0, rows / columns));
  parameter.mul_(1 - o.lr * o.weight_decay).sub_(change * (o.lr * ratio));
}

}  // namespace weft::optim
