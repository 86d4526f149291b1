#include "optim/one_cycle.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::optim {
namespace {

OneCycleOptions checked(const OneCycleOptions& o, const Optimizer& optimizer) {
  ErrorFrame frame("OneCycle");
  detail::check_groups("max_lrs", o.max_lrs, optimizer);
  for (const double most : o.max_lrs.empty() ? std::vector<double>{o.max_lr} : o.max_lrs) detail::check_max_lr(most);
  if (o.steps < 2)
    throw Error(text("steps must be 2 or more, not ", o.steps, o.steps == 0 ? " (was it left out?)" : ""));
  if (!(o.rising > 0 && o.rising < 1)) throw Error(text("rising must be in (0, 1), not ", o.rising));
  if (o.three_phases && o.rising > 0.5) throw Error(text("three phases need rising up to 0.5, not ", o.rising));
  if (!(o.start_divisor > 0)) throw Error(text("start_divisor must be positive, not ", o.start_divisor));
  if (!(o.final_divisor > 0)) throw Error(text("final_divisor must be positive, not ", o.final_divisor));
  if (o.cycle_momentum) detail::check_cycled_momentum(o.base_momentum, o.max_momentum);
  return o;
}

double between(Anneal anneal, double start, double end, double part) {
  if (anneal == Anneal::linear) return start + (end - start) * part;
  return end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * part));
}

/// From `start` to `peak` while the learning rate rises, then to `end`; with three phases, by way of `start`.
double cycle(const OneCycleOptions& o, int64_t step, double start, double peak, double end) {
  if (step > o.steps) throw Error(text("OneCycle: step ", step, " is beyond the cycle of ", o.steps, " steps"));
  const double turn = o.rising * static_cast<double>(o.steps) - 1;
  const double last = static_cast<double>(o.steps) - 1, back = o.three_phases ? 2 * turn : turn;
  const double at = std::min(static_cast<double>(step), last);
  if (at <= turn) return between(o.anneal, start, peak, turn > 0 ? at / turn : 1);
  if (at <= back) return between(o.anneal, peak, start, (at - turn) / turn);
  return between(o.anneal, o.three_phases ? start : peak, end, (at - back) / (last - back));
}

double rate(const OneCycleOptions& o, int64_t step, size_t group) {
  const double most = detail::of_group(o.max_lr, o.max_lrs, group);
  const double start = most / o.start_divisor;
  return cycle(o, step, start, most, start / o.final_divisor);
}

}  // namespace

OneCycle::OneCycle(Optimizer& optimizer, const OneCycleOptions& options)
    : Schedule(optimizer, GroupCurve{[o = checked(options, optimizer)](int64_t step, double, size_t group) {
                 return rate(o, step, group);
               }}),
      options_(options) {
  start();
}

void OneCycle::apply() {
  Schedule::apply();
  if (!options_.cycle_momentum) return;
  const double value = cycle(options_, steps(), options_.max_momentum, options_.base_momentum, options_.max_momentum);
  set_momentum(value);
}

}  // namespace weft::optim
