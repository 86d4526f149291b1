#include "optim/swa_lr.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::optim {

SWALR::SWALR(Optimizer& optimizer, const SwaLrOptions& o) : Schedule(optimizer), options_(o) {
  ErrorFrame frame("SWALR");
  detail::check_groups("swa_lrs", o.swa_lrs, optimizer);
  for (const double rate : o.swa_lrs.empty() ? Rates{o.swa_lr} : o.swa_lrs)
    if (!(rate > 0)) throw Error(text("swa_lr must be positive, not ", rate, rate == 0 ? " (was it left out?)" : ""));
  if (o.steps < 0) throw Error(text("steps must be 0 or more, not ", o.steps));
  SWALR::apply();
}

void SWALR::apply() {
  if (options_.steps == 0) check_rates(), set_rates(1);
}

// A group may have been added.
void SWALR::check_rates() const { detail::check_groups("SWALR: swa_lrs", options_.swa_lrs, optimizer()); }

double SWALR::share(int64_t step) const {
  const double part = static_cast<double>(step) / static_cast<double>(std::max<int64_t>(options_.steps, 1));
  const double t = std::clamp(part, 0.0, 1.0);
  return options_.anneal == Anneal::linear ? t : (1 - std::cos(std::numbers::pi * t)) / 2;
}

// The first rate is not kept but follows from the present one: until the first step, it is another schedule's.
void SWALR::set_rates(int64_t step) {
  const double before = share(step - 1), after = share(step);
  for (size_t group = 0; group < optimizer().group_count(); ++group) {
    const double target = detail::of_group(options_.swa_lr, options_.swa_lrs, group);
    const double first = before == 1 ? target : (optimizer().lr(group) - before * target) / (1 - before);
    optimizer().set_lr(target * after + first * (1 - after), group);
  }
}

void SWALR::step() {
  check_rates();
  count();
  set_rates(steps());
  note_change();
}

}  // namespace weft::optim
