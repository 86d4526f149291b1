// Combinations of schedules of any kind: one after the other, or chained. Schedules that are curves can also be
// combined as curves (curve_schedules.h).
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "optim/schedule.h"

namespace weft::optim {

/// A function that creates a schedule for an optimizer: a lambda, or schedule_of<OneCycle>(OneCycleOptions{.max_lr = 1,
/// .steps = 90}).
using MakeSchedule = std::function<std::unique_ptr<Schedule>(Optimizer&)>;
template <class S, class Options> MakeSchedule schedule_of(Options options) {
  return [options = std::move(options)](Optimizer& optimizer) { return std::make_unique<S>(optimizer, options); };
}

/// Base of the two combinations. It holds the parts, which start from the optimizer's learning rates, and saves their
/// states.
class JoinedSchedules : public Schedule {
 public:
  void step() override { claim_step(), take_step(std::nullopt); }
  /// For combinations that contain a ReduceOnPlateau.
  void step(double metric) { claim_step(), take_step(metric); }

 protected:
  explicit JoinedSchedules(Optimizer& optimizer) : Schedule(optimizer) {}
  void add_part(std::unique_ptr<Schedule> part);
  size_t parts() const { return parts_.size(); }
  /// Restarts part i: its step 0 is now.
  void restart(size_t i);
  /// Puts the parts back to where they were in `before`, without calling their curves.
  void take_back(const State& before);
  void step_part(size_t i, std::optional<double> metric) { parts_[i]->advance(metric); }
  /// Sets the base learning rates of part i. Returns false if the part changes the current learning rate instead of
  /// computing it from a base.
  bool rebase(size_t i, const Rates& rates);
  void save(State& out) const override;
  void load(const State& state) override;

 private:
  virtual void take_step(std::optional<double> metric) = 0;
  std::vector<std::unique_ptr<Schedule>> parts_;
};

/// PyTorch's SequentialLR for schedules of any kind. Part i begins at step milestones[i - 1]. It starts from the
/// learning rates that the groups had at the beginning, or, if it continues from the current learning rate
/// (ReduceOnPlateau, SWALR), from the current ones.
///   optim::SequentialLR schedule(optimizer, {optim::schedule_of<optim::LinearLR>(warmup),
///                                            optim::schedule_of<optim::OneCycle>(cycle)}, {10});
class SequentialLR final : public JoinedSchedules {
 public:
  /// Error unless the milestones ascend from 0 on and there is one fewer than there are parts.
  SequentialLR(Optimizer& optimizer, const std::vector<MakeSchedule>& parts, std::vector<int64_t> milestones);

 private:
  void take_step(std::optional<double> metric) override;
  /// The index of the active part.
  size_t present() const;
  std::vector<int64_t> milestones_;
};

/// PyTorch's ChainedScheduler for schedules of any kind: the learning rate of each part is the base of the next. A part
/// that changes the current learning rate (ReduceOnPlateau) multiplies the result of the parts before it.
class ChainedScheduler final : public JoinedSchedules {
 public:
  ChainedScheduler(Optimizer& optimizer, const std::vector<MakeSchedule>& parts);

 private:
  void take_step(std::optional<double> metric) override;
  void step_parts(std::optional<double> metric);
  void save(State& out) const override;
  void load(const State& state) override;
  Rates start_;
  std::vector<Rates> factors_;  // of each part that changes the current learning rate
};

}  // namespace weft::optim
