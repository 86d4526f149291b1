#include "optim/cyclic.h"

#include <algorithm>
#include <cmath>

namespace weft::optim {
namespace {

CyclicOptions checked(const CyclicOptions& o, const Optimizer& optimizer) {
  ErrorFrame frame("CyclicLR");
  detail::check_groups("base_lrs", o.base_lrs, optimizer);
  detail::check_groups("max_lrs", o.max_lrs, optimizer);
  for (size_t i = 0; i < std::max({o.base_lrs.size(), o.max_lrs.size(), size_t{1}}); ++i) {
    const double most = detail::of_group(o.max_lr, o.max_lrs, i), least = detail::of_group(o.base_lr, o.base_lrs, i);
    detail::check_max_lr(most);
    if (!(least >= 0 && least <= most)) throw Error(text("base_lr must be in [0, max_lr = ", most, "], not ", least));
  }
  if (o.up < 1) throw Error(text("up must be 1 or more, not ", o.up));
  if (o.down < 0) throw Error(text("down must be 0 or more, not ", o.down));
  if (!(o.gamma > 0)) throw Error(text("gamma must be positive, not ", o.gamma));
  if (o.cycle_momentum) detail::check_cycled_momentum(o.base_momentum, o.max_momentum);
  return o;
}

/// The position between the bounds: 0 at the lower one, the amplitude of the cycle at its peak.
double position(const CyclicOptions& o, int64_t step) {
  const auto up = static_cast<double>(o.up), down = o.down > 0 ? static_cast<double>(o.down) : up;
  const double cycles = static_cast<double>(step) / (up + down), cycle = std::floor(cycles);
  const double part = cycles - cycle, turn = up / (up + down);
  const double scale = part <= turn ? part / turn : (part - 1) / (turn - 1);
  if (o.scale_fn) return scale * o.scale_fn(o.scale_by_cycle ? cycle + 1 : static_cast<double>(step));
  switch (o.mode) {
    case CycleMode::triangular2: return scale / std::exp2(cycle);
    case CycleMode::exp_range: return scale * std::pow(o.gamma, static_cast<double>(step));
    default: return scale;
  }
}

double rate(const CyclicOptions& o, int64_t step, size_t group) {
  const double least = detail::of_group(o.base_lr, o.base_lrs, group);
  return least + (detail::of_group(o.max_lr, o.max_lrs, group) - least) * position(o, step);
}

}  // namespace

CyclicLR::CyclicLR(Optimizer& optimizer, const CyclicOptions& options)
    : Schedule(optimizer, GroupCurve{[o = checked(options, optimizer)](int64_t step, double, size_t group) {
                 return rate(o, step, group);
               }}),
      options_(options) {
  start();
}

void CyclicLR::apply() {
  Schedule::apply();
  const CyclicOptions& o = options_;
  if (o.cycle_momentum) set_momentum(o.max_momentum - (o.max_momentum - o.base_momentum) * position(o, steps()));
}

}  // namespace weft::optim
