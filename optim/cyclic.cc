#include "optim/cyclic.h"

#include <cmath>

namespace weft::optim {
namespace {

CyclicOptions checked(const CyclicOptions& o) {
  Frame frame("CyclicLR");
  if (!(o.max_lr > 0))
    throw Error(text("max_lr must be positive, not ", o.max_lr, o.max_lr == 0 ? " (was it left out?)" : ""));
  if (!(o.base_lr >= 0 && o.base_lr <= o.max_lr))
    throw Error(text("base_lr must be in [0, max_lr = ", o.max_lr, "], not ", o.base_lr));
  if (o.up < 1) throw Error(text("up must be 1 or more, not ", o.up));
  if (o.down < 0) throw Error(text("down must be 0 or more, not ", o.down));
  if (!(o.gamma > 0)) throw Error(text("gamma must be positive, not ", o.gamma));
  if (!o.cycle_momentum) return o;
  for (const double momentum : {o.base_momentum, o.max_momentum})
    if (!(momentum >= 0 && momentum < 1))
      throw Error(text("base_momentum and max_momentum must be in [0, 1), not ", momentum));
  return o;
}

/// 0 at the lower bound, the height of the cycle at its upper one.
double position(const CyclicOptions& o, int64_t step) {
  const auto up = static_cast<double>(o.up), down = o.down > 0 ? static_cast<double>(o.down) : up;
  const double cycles = static_cast<double>(step) / (up + down), cycle = std::floor(cycles);
  const double part = cycles - cycle, turn = up / (up + down);
  const double scale = part <= turn ? part / turn : (part - 1) / (turn - 1);
  switch (o.mode) {
    case CycleMode::triangular2: return scale / std::exp2(cycle);
    case CycleMode::exp_range: return scale * std::pow(o.gamma, static_cast<double>(step));
    default: return scale;
  }
}

}  // namespace

CyclicLR::CyclicLR(Optimizer& optimizer, const CyclicOptions& options)
    : Schedule(optimizer, [o = checked(options)](
                              int64_t step, double) { return o.base_lr + (o.max_lr - o.base_lr) * position(o, step); }),
      options_(options) {
  CyclicLR::apply();
}

void CyclicLR::apply() {
  Schedule::apply();
  const CyclicOptions& o = options_;
  if (o.cycle_momentum) set_momentum(o.max_momentum - (o.max_momentum - o.base_momentum) * position(o, steps()));
}

}  // namespace weft::optim
