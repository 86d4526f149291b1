#include "optim/schedule.h"

#include <cmath>

#include "tensor/runtime/log.h"

namespace weft::optim {
namespace {
std::string base_key(size_t group) { return text("group.", group, ".base_lr"); }
std::string rate_key(size_t group) { return text("group.", group, ".lr"); }
std::string momentum_key(size_t group, const char* name) { return text("group.", group, ".", name); }
constexpr const char* kMomenta[] = {"momentum", "beta1"};
}  // namespace

Schedule::Schedule(Optimizer& optimizer) : optimizer_(optimizer), known_changes_(optimizer.scheduled_.changes) {
  for (size_t group = 0; group < optimizer.group_count(); ++group) base_.push_back(optimizer.lr(group));
}

Schedule::Schedule(Optimizer& optimizer, const Curve& curve)
    : Schedule(optimizer, [&curve] {
        GroupCurve out;
        if (curve) out.rate = [curve](int64_t step, double base, size_t) { return curve(step, base); };
        return out;
      }()) {}

Schedule::Schedule(Optimizer& optimizer, GroupCurve curve) : Schedule(optimizer) {
  if (!curve.rate) throw Error("Schedule(): the curve is empty");
  curve_ = std::move(curve);
  start();
}

void Schedule::start() {
  try {
    apply();  // NOLINT(clang-analyzer-optin.cplusplus.VirtualCall): of the class whose constructor calls it
  } catch (...) {
    set_rates(base_);
    throw;
  }
}

void Schedule::apply() {
  if (!curve_.rate) return;
  for (size_t group = 0; group < base_.size(); ++group)
    optimizer().set_lr(curve_.rate(steps_, base_[group], group), group);
}

Schedule::Rates Schedule::rates() const {
  Rates out;
  for (size_t group = 0; group < optimizer().group_count(); ++group) out.push_back(optimizer().lr(group));
  return out;
}

void Schedule::set_rates(const Rates& rates) {
  for (size_t group = 0; group < rates.size(); ++group) optimizer().set_lr(rates[group], group);
}

void detail::check_groups(const char* field, const std::vector<double>& each, const Optimizer& optimizer) {
  if (!each.empty() && each.size() != optimizer.group_count())
    throw Error(text(field, " has ", each.size(), " numbers for ", optimizer.group_count(), " groups"));
}

void detail::check_max_lr(double max_lr) {
  if (!(max_lr > 0))
    throw Error(text("max_lr must be positive, not ", max_lr, max_lr == 0 ? " (was it left out?)" : ""));
}

void detail::check_cycled_momentum(double base, double max) {
  for (const double momentum : {base, max})
    if (!(momentum >= 0 && momentum < 1))
      throw Error(text("base_momentum and max_momentum must be in [0, 1), not ", momentum));
}

detail::KeptMomenta::KeptMomenta(Optimizer& optimizer) : optimizer_(optimizer) {
  for (const char* name : kMomenta)
    for (size_t group = 0; optimizer.has(name) && group < optimizer.group_count(); ++group)
      values_.push_back({name, group, optimizer.get(name, group)});
}

void detail::KeptMomenta::put_back() const {
  for (const auto& [name, group, value] : values_) optimizer_.set(name, value, group);
}

void detail::KeptMomenta::save(State& out) const {
  for (const auto& [name, group, value] : values_) out.numbers[momentum_key(group, name)] = value;
}

void detail::KeptMomenta::take(const State& state) {
  for (auto& [name, group, value] : values_)
    if (const auto found = state.numbers.find(momentum_key(group, name)); found != state.numbers.end())
      value = found->second;
}

void Schedule::set_momentum(double value) {
  for (const char* name : kMomenta)
    if (optimizer().has(name)) optimizer().set(name, value);
}

void Schedule::check_step() const {
  if (is_part_) return;
  const Optimizer::Scheduled& last = optimizer().scheduled_;
  const int64_t attempt = optimizer().attempts_;
  if (attempt == 0 && steps_ == 0 && optimizer().steps() == 0)
    log_warn("a schedule stepped before its optimizer did: the first learning rate was not used");
  if (last.changes != known_changes_)
    throw Error(
        "ReduceOnPlateau or SWALR changed the learning rate, and this schedule would overwrite it; combine them with "
        "ChainedScheduler or SequentialLR, or make this schedule afterwards");
  if (attempt > 0 && last.attempt == attempt && last.by != this)
    throw Error(
        "two schedules set the learning rate after one step of the optimizer, and the second would overwrite the "
        "first; combine them with ChainedScheduler or SequentialLR");
}

void Schedule::claim_step() {
  check_step();
  if (is_part_) return;
  Optimizer::Scheduled& last = optimizer().scheduled_;
  last.by = this, last.attempt = optimizer().attempts_;
}

void Schedule::note_change() {
  if (!is_part_) known_changes_ = ++optimizer().scheduled_.changes;
}

void Schedule::step() {
  if (curve_.rate) check_step();
  const Rates before = rates();
  ++steps_;
  try {
    apply();
  } catch (...) {
    --steps_;  // the curve threw: the step was not taken for any group
    set_rates(before);
    throw;
  }
  if (curve_.rate) claim_step();
}

State Schedule::state_dict() const {
  State out;
  out.numbers["steps"] = static_cast<double>(steps_);
  for (size_t group = 0; group < base_.size(); ++group) out.numbers[base_key(group)] = base_[group];
  for (size_t group = 0; group < optimizer().group_count(); ++group)
    out.numbers[rate_key(group)] = optimizer().lr(group);
  save(out);
  return out;
}

void Schedule::load_state_dict(const State& state) {
  ErrorFrame frame("Schedule::load_state_dict");
  const State before = state_dict();
  const Rates present = rates();
  const detail::KeptMomenta momenta(optimizer());
  const int64_t known = known_changes_;
  try {
    put(state);
  } catch (...) {
    put(before);
    set_rates(present), momenta.put_back();
    known_changes_ = known;
    throw;
  }
}

void Schedule::put(const State& state, bool applies) {
  const int64_t steps = detail::count_of(state.numbers, "steps");
  std::vector<double> base;
  for (size_t group = 0; group < base_.size(); ++group) base.push_back(number(state, base_key(group)));
  load(state);
  steps_ = steps;
  base_ = base;
  if (applies) apply();
  // They may have been set by other code.
  for (size_t group = 0; group < optimizer().group_count(); ++group)
    if (const auto rate = state.numbers.find(rate_key(group)); rate != state.numbers.end())
      optimizer().set_lr(rate->second, group);
  known_changes_ = optimizer().scheduled_.changes;
}

}  // namespace weft::optim
