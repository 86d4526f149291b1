#include "optim/plateau.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::optim {
ReduceOnPlateau::ReduceOnPlateau(Optimizer& optimizer, const PlateauOptions& options)
    : Schedule(optimizer), options_(options) {
  ErrorFrame frame("ReduceOnPlateau");
  const PlateauOptions& o = options;
  if (!(o.factor >= 0 && o.factor < 1)) throw Error(text("factor must be in [0, 1), not ", o.factor));
  if (o.patience < 0) throw Error(text("patience must be 0 or more, not ", o.patience));
  if (o.cooldown < 0) throw Error(text("cooldown must be 0 or more, not ", o.cooldown));
  if (!(o.threshold >= 0)) throw Error(text("threshold must be 0 or more, not ", o.threshold));
  if (!(o.eps >= 0)) throw Error(text("eps must be 0 or more, not ", o.eps));
  detail::check_groups("min_lrs", o.min_lrs, optimizer);
  for (const double least : o.min_lrs.empty() ? std::vector<double>{o.min_lr} : o.min_lrs)
    if (!(least >= 0)) throw Error(text("min_lr must be 0 or more, not ", least));
  best_ = (o.maximize ? -1 : 1) * std::numeric_limits<double>::infinity();
}

void ReduceOnPlateau::step() { throw Error("ReduceOnPlateau: step(metric) needs the metric"); }

void ReduceOnPlateau::advance(std::optional<double> metric) {
  if (!metric) throw Error("ReduceOnPlateau: it is one of several schedules, whose step(metric) needs the metric");
  step(*metric);
}

bool ReduceOnPlateau::improves(double metric) const {
  if (std::isinf(best_)) return options_.maximize ? metric > best_ : metric < best_;  // the first metric
  const double margin = options_.maximize ? options_.threshold : -options_.threshold;
  const double wanted = options_.relative ? best_ * (1 + margin) : best_ + margin;
  return options_.maximize ? metric > wanted : metric < wanted;
}

void ReduceOnPlateau::step(double metric) {
  // A group may have been added.
  if (!options_.min_lrs.empty()) detail::check_groups("ReduceOnPlateau: min_lrs", options_.min_lrs, optimizer());
  count();
  if (improves(metric)) {
    best_ = metric;
    bad_steps_ = 0;
  } else {
    ++bad_steps_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_steps_ = 0;
  }
  if (bad_steps_ > options_.patience) reduce();
}

void ReduceOnPlateau::reduce() {
  for (size_t group = 0; group < optimizer().group_count(); ++group) {
    const double before = optimizer().lr(group),
                 after = std::max(before * options_.factor, detail::of_group(options_.min_lr, options_.min_lrs, group));
    if (!(before - after > options_.eps)) continue;
    optimizer().set_lr(after, group);
    note_change();
  }
  cooling_ = options_.cooldown;
  bad_steps_ = 0;
}

void ReduceOnPlateau::save(State& out) const {
  out.numbers["best"] = best_;
  out.numbers["bad_steps"] = static_cast<double>(bad_steps_);
  out.numbers["cooling"] = static_cast<double>(cooling_);
}

void ReduceOnPlateau::load(const State& state) {
  const double best = number(state, "best");
  if (std::isnan(best)) throw Error("the state does not fit: best is nan");
  const int64_t bad = detail::count_of(state.numbers, "bad_steps");
  cooling_ = detail::count_of(state.numbers, "cooling");
  best_ = best, bad_steps_ = bad;
}

}  // namespace weft::optim
