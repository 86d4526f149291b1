// Schedules of any kind one after the other, or one on top of the other. Those that are curves can be joined as curves
// too (curve_schedules.h).
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "optim/schedule.h"

namespace weft::optim {

/// Makes a schedule of an optimizer: a function, or schedule_of<OneCycle>(OneCycleOptions{.max_lr = 1, .steps = 90}).
using MakeSchedule = std::function<std::unique_ptr<Schedule>(Optimizer&)>;
template <class S, class Options> MakeSchedule schedule_of(Options options) {
  return [options = std::move(options)](Optimizer& optimizer) { return std::make_unique<S>(optimizer, options); };
}

/// What the two ways to join share: the parts, which start from the optimizer's rates, and their states.
class JoinedSchedules : public Schedule {
 public:
  void step() override { take_step(std::nullopt); }
  /// Of schedules among which a ReduceOnPlateau is.
  void step(double metric) { take_step(metric); }

 protected:
  explicit JoinedSchedules(Optimizer& optimizer) : Schedule(optimizer) {}
  using Rates = std::vector<double>;
  Rates rates() const;
  void set_rates(const Rates& rates);
  void add_part(std::unique_ptr<Schedule> part);
  size_t parts() const { return parts_.size(); }
  /// Part i from its beginning, which is now.
  void restart(size_t i);
  void step_part(size_t i, std::optional<double> metric) { parts_[i]->advance(metric); }
  /// Makes these the rates that part i starts from; false where it changes the present rate instead.
  bool rebase(size_t i, const Rates& rates);
  void save(State& out) const override;
  void load(const State& state) override;

 private:
  virtual void take_step(std::optional<double> metric) = 0;
  std::vector<std::unique_ptr<Schedule>> parts_;
};

/// PyTorch's SequentialLR: part i begins at milestones[i - 1], with the rates that the groups had at the start, or,
/// where it goes on from the present rate (ReduceOnPlateau, SWALR), with those.
///   optim::SequentialSchedules schedule(optimizer, {optim::schedule_of<optim::LinearLR>(warmup),
///                                                   optim::schedule_of<optim::OneCycle>(cycle)}, {10});
class SequentialSchedules final : public JoinedSchedules {
 public:
  /// Error unless milestones ascend from 0 on and are one less than the parts.
  SequentialSchedules(Optimizer& optimizer, const std::vector<MakeSchedule>& parts, std::vector<int64_t> milestones);

 private:
  void take_step(std::optional<double> metric) override;
  /// The part whose steps these are.
  size_t present() const;
  std::vector<int64_t> milestones_;
};

/// Each part's rate is where the next one starts from; a part that changes the present rate (ReduceOnPlateau) scales
/// what those before it give.
class ChainedSchedules final : public JoinedSchedules {
 public:
  ChainedSchedules(Optimizer& optimizer, const std::vector<MakeSchedule>& parts);

 private:
  void take_step(std::optional<double> metric) override;
  void step_parts(std::optional<double> metric);
  void save(State& out) const override;
  void load(const State& state) override;
  Rates start_;
  std::vector<Rates> factors_;  // of each part that changes the present rate
};

}  // namespace weft::optim
