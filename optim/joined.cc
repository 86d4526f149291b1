#include "optim/joined.h"

#include <algorithm>

namespace weft::optim {
namespace {

std::string part_key(size_t part) { return text("part.", part, "."); }
std::string factor_key(size_t part, size_t group) { return text("part.", part, ".group.", group, ".factor"); }

/// The state of part i.
State part_of(const State& state, size_t i) {
  State part;
  const std::string prefix = part_key(i);
  for (const auto& [key, value] : state.numbers)
    if (key.starts_with(prefix)) part.numbers[key.substr(prefix.size())] = value;
  return part;
}

void check_parts(const std::vector<MakeSchedule>& parts) {
  if (parts.empty()) throw Error("no schedules were given");
  for (const MakeSchedule& part : parts)
    if (!part) throw Error("a schedule is empty");
}

}  // namespace

void JoinedSchedules::add_part(Owned<Schedule> part) {
  if (!part) throw Error("a schedule is empty");
  if (&part->optimizer() != &optimizer()) throw Error("a schedule is of another optimizer");
  part->is_part_ = true;
  parts_.push_back(std::move(part));
}

void JoinedSchedules::make_parts(const std::vector<MakeSchedule>& parts, const std::function<void()>& made) {
  const Rates start = rates();
  const detail::KeptMomenta momenta(optimizer());
  try {
    for (const MakeSchedule& part : parts) add_part(part(optimizer())), made();
  } catch (...) {
    set_rates(start), momenta.put_back();
    throw;
  }
}

void JoinedSchedules::restart() {
  steps_ = 0;
  begin();
}

void JoinedSchedules::rebase(const Rates& rates) { base_ = rates; }

bool JoinedSchedules::sets_momentum() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->sets_momentum(); });
}

void JoinedSchedules::save(State& out) const {
  save_parts(out);
  // No part can tell the present momentum: another one may have left it. That of the outermost combination counts.
  if (!is_part_ && sets_momentum()) detail::KeptMomenta(optimizer()).save(out);
}

void JoinedSchedules::save_parts(State& out) const {
  for (size_t i = 0; i < parts_.size(); ++i)
    for (const auto& [key, value] : parts_[i]->state_dict().numbers) out.numbers[part_key(i) + key] = value;
}

void JoinedSchedules::load(const State& state) {
  State own;
  save_parts(own);
  for (const auto& [key, value] : own.numbers) (void)number(state, key);
  detail::KeptMomenta momenta(optimizer());  // not those of a part whose turn it is not
  if (!is_part_ && sets_momentum()) momenta.take(state);
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i]->load_state_dict(part_of(state, i));
  momenta.put_back();
}

void JoinedSchedules::take_back(const State& before) {
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i]->put(part_of(before, i), false);
}

SequentialLR::SequentialLR(Optimizer& optimizer, const std::vector<MakeSchedule>& parts,
                           std::vector<int64_t> milestones)
    : JoinedSchedules(optimizer), milestones_(std::move(milestones)) {
  ErrorFrame frame("SequentialLR");
  check_parts(parts);
  if (milestones_.size() + 1 != parts.size())
    throw Error(text(parts.size(), " schedules need one milestone less, not ", milestones_.size()));
  detail::check_milestones(milestones_);
  const Rates start = rates();
  const detail::KeptMomenta momenta(optimizer);
  make_parts(parts, [&] {
    set_rates(start), momenta.put_back();
    if (this->parts() == parts.size()) begin();
  });
}

void SequentialLR::rebase(const Rates& rates) {
  JoinedSchedules::rebase(rates);
  for (size_t i = 0; i < parts(); ++i) rebase_part(i, rates);
}

size_t SequentialLR::present() const {
  const auto behind = std::upper_bound(milestones_.begin(), milestones_.end(), steps());
  return static_cast<size_t>(behind - milestones_.begin());
}

void SequentialLR::take_step(std::optional<double> metric) {
  const Rates before = rates();
  const detail::KeptMomenta momenta(optimizer());
  count();
  try {
    const size_t part = present();
    part > 0 && milestones_[part - 1] == steps() ? restart_part(part) : step_part(part, metric);
  } catch (...) {
    uncount();  // a step that the part does not have was not taken
    set_rates(before), momenta.put_back();
    throw;
  }
}

ChainedScheduler::ChainedScheduler(Optimizer& optimizer, const std::vector<MakeSchedule>& parts)
    : JoinedSchedules(optimizer) {
  ErrorFrame frame("ChainedScheduler");
  check_parts(parts);
  make_parts(parts, [&] { factors_.emplace_back(base().size(), 1.0); });
}

void ChainedScheduler::begin() {
  chain([&](size_t i) { restart_part(i); });
}

void ChainedScheduler::take_step(std::optional<double> metric) {
  const State before = state_dict();
  const std::vector<Rates> factors = factors_;
  const Rates present = rates();
  const detail::KeptMomenta momenta(optimizer());
  try {
    count();
    chain([&](size_t i) { step_part(i, metric); });
  } catch (...) {
    uncount();  // a step that a part does not have was taken by none
    take_back(before);
    factors_ = factors;
    set_rates(present), momenta.put_back();
    throw;
  }
}

template <class Move> void ChainedScheduler::chain(const Move& move) {
  Rates now = base();
  for (size_t i = 0; i < parts(); ++i) {
    rebase_part(i, now);
    Rates scaled = now;  // where a part that changes the current learning rate goes on
    for (size_t group = 0; group < now.size(); ++group) scaled[group] *= factors_[i][group];
    set_rates(scaled);
    move(i);
    for (size_t group = 0; group < now.size(); ++group)
      if (now[group] > 0) factors_[i][group] = optimizer().lr(group) / now[group];
    now = rates();
    now.resize(base().size());  // a group that was added later keeps its own rate
  }
}

void ChainedScheduler::save(State& out) const {
  JoinedSchedules::save(out);
  for (size_t i = 0; i < factors_.size(); ++i)
    for (size_t group = 0; group < factors_[i].size(); ++group) out.numbers[factor_key(i, group)] = factors_[i][group];
}

void ChainedScheduler::load(const State& state) {
  std::vector<Rates> given = factors_;
  for (size_t i = 0; i < given.size(); ++i)
    for (size_t group = 0; group < given[i].size(); ++group) given[i][group] = number(state, factor_key(i, group));
  JoinedSchedules::load(state);
  factors_ = std::move(given);
}

}  // namespace weft::optim
