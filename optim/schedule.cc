#include "optim/schedule.h"

#include <cmath>
#include <numbers>

namespace weft::optim {
namespace {
void at_least_one(const char* name, int64_t value) {
  if (value < 1) throw Error(text(name, " must be 1 or more, not ", value, value == 0 ? " (was it left out?)" : ""));
}
void not_negative(const char* name, double value) {
  if (!(value >= 0)) throw Error(text(name, " must be 0 or more, not ", value));
}
std::string base_key(size_t group) { return text("group.", group, ".base_lr"); }
}  // namespace

Schedule::Schedule(Optimizer& optimizer, Curve curve) : optimizer_(optimizer), curve_(std::move(curve)) {
  if (!curve_) throw Error("Schedule(): the curve is empty");
  for (size_t group = 0; group < optimizer.group_count(); ++group) base_.push_back(optimizer.lr(group));
  Schedule::apply();
}

void Schedule::apply() {
  for (size_t group = 0; group < base_.size(); ++group) optimizer_.set_lr(group, curve_(steps_, base_[group]));
}

void Schedule::step() {
  ++steps_;
  apply();
}

State Schedule::state_dict() const {
  State out;
  out.numbers["steps"] = static_cast<double>(steps_);
  for (size_t group = 0; group < base_.size(); ++group) out.numbers[base_key(group)] = base_[group];
  return out;
}

void Schedule::load_state_dict(const State& state) {
  const auto number = [&](const std::string& key) {
    const auto found = state.numbers.find(key);
    if (found == state.numbers.end()) throw Error(text("the state of this schedule lacks ", key));
    return found->second;
  };
  const double steps = number("steps");
  std::vector<double> base;
  for (size_t group = 0; group < base_.size(); ++group) base.push_back(number(base_key(group)));
  steps_ = static_cast<int64_t>(steps);
  base_ = base;
  apply();
}

Curve step_curve(const StepOptions& options) {
  Frame frame("step_curve");
  at_least_one("every", options.every);
  not_negative("gamma", options.gamma);
  return [options](int64_t step, double base) {
    return base * std::pow(options.gamma, static_cast<double>(step / options.every));
  };
}

Curve cosine_curve(const CosineOptions& options) {
  Frame frame("cosine_curve");
  at_least_one("steps", options.steps);
  not_negative("min_lr", options.min_lr);
  return [options](int64_t step, double base) {
    const double part = static_cast<double>(step) / static_cast<double>(options.steps);
    return options.min_lr + (base - options.min_lr) * (1 + std::cos(std::numbers::pi * part)) / 2;
  };
}

Curve warmup_curve(const WarmupOptions& options) {
  Frame frame("warmup_curve");
  at_least_one("steps", options.steps);
  not_negative("start_factor", options.start_factor);
  return [options](int64_t step, double base) {
    if (step >= options.steps) return options.then ? options.then(step - options.steps, base) : base;
    const double part = static_cast<double>(step) / static_cast<double>(options.steps);
    return base * (options.start_factor + (1 - options.start_factor) * part);
  };
}

}  // namespace weft::optim
