// Combinations of schedules of any kind: one after the other, or chained. Schedules that are curves can also be
// combined as curves (curve_schedules.h).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "optim/schedule.h"
#include "tensor/core/owned.h"

namespace weft::optim {

/// A function that creates a schedule for an optimizer: a lambda that returns a std::unique_ptr, or
/// schedule_of<OneCycle>(OneCycleOptions{.max_lr = 1, .steps = 90}).
using MakeSchedule = std::function<Owned<Schedule>(Optimizer&)>;
template <class S, class Options> MakeSchedule schedule_of(Options options) {
  return [options = std::move(options)](Optimizer& optimizer) { return Owned<Schedule>(new S(optimizer, options)); };
}

/// Base of the two combinations. It holds the parts, which start from the optimizer's learning rates, and saves their
/// states, and the momentum if one of them sets it.
class JoinedSchedules : public Schedule {
 public:
  void step() override { advance(std::nullopt); }
  /// For combinations that contain a ReduceOnPlateau.
  void step(double metric) { advance(metric); }

 protected:
  explicit JoinedSchedules(Optimizer& optimizer) : Schedule(optimizer) {}
  /// Makes the parts, calling made() after each. If one throws, the optimizer keeps its learning rates and momenta.
  void make_parts(const std::vector<MakeSchedule>& parts, const std::function<void()>& made);
  size_t parts() const { return parts_.size(); }
  void restart_part(size_t i) { parts_[i]->restart(); }
  /// Puts the parts back to where they were in `before`, without calling their curves.
  void take_back(const State& before);
  void step_part(size_t i, std::optional<double> metric) { parts_[i]->advance(metric); }
  void rebase_part(size_t i, const Rates& rates) { parts_[i]->rebase(rates); }
  void rebase(const Rates& rates) override;
  void save(State& out) const override;
  void load(const State& state) override;

 private:
  void advance(std::optional<double> metric) final { check_step(), take_step(metric), claim_step(); }
  void restart() final;
  bool sets_momentum() const final;
  void save_parts(State& out) const;
  virtual void take_step(std::optional<double> metric) = 0;
  /// Sets the learning rates of step 0.
  virtual void begin() = 0;
  void add_part(Owned<Schedule> part);
  std::vector<Owned<Schedule>> parts_;
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
  void begin() override { restart_part(present()); }
  void rebase(const Rates& rates) override;
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
  void begin() override;
  /// move(i) for each part, which sets the learning rates from those that the parts before it have set.
  template <class Move> void chain(const Move& move);
  void save(State& out) const override;
  void load(const State& state) override;
  std::vector<Rates> factors_;  // by which each part has changed the result of those before it
};

}  // namespace weft::optim
