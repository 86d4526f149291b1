#include "optim/early_stopping.h"

#include <cmath>
#include <limits>

namespace weft::optim {

EarlyStopping::EarlyStopping(const EarlyStoppingOptions& o) : options_(o) {
  ErrorFrame frame("EarlyStopping");
  if (o.patience < 0) throw Error(text("patience must be 0 or more, not ", o.patience));
  if (!(o.threshold >= 0)) throw Error(text("threshold must be 0 or more, not ", o.threshold));
  best_ = (o.maximize ? -1 : 1) * std::numeric_limits<double>::infinity();
}

bool EarlyStopping::step(double metric) {
  ++steps_;
  const bool better = options_.maximize ? metric > best_ + options_.threshold : metric < best_ - options_.threshold;
  if (better)
    best_ = metric, bad_steps_ = 0;
  else
    ++bad_steps_;
  return bad_steps_ > options_.patience;
}

State EarlyStopping::state_dict() const {
  State out;
  out.numbers = {
      {"best", best_}, {"bad_steps", static_cast<double>(bad_steps_)}, {"steps", static_cast<double>(steps_)}};
  return out;
}

void EarlyStopping::load_state_dict(const State& state) {
  ErrorFrame frame("EarlyStopping::load_state_dict");
  const double best = detail::number_of(state.numbers, "best");
  if (std::isnan(best)) throw Error("the state does not fit: best is nan");
  const int64_t bad = detail::count_of(state.numbers, "bad_steps");
  steps_ = detail::count_of(state.numbers, "steps");
  best_ = best, bad_steps_ = bad;
}

}  // namespace weft::optim
