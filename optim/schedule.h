// Schedules: change an optimizer's rates from step to step. `schedule.step()` goes after `optimizer.step()`.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "optim/optimizer.h"

namespace weft::optim {

/// The rate after `step` steps for a group whose own rate is `base`.
using Curve = std::function<double(int64_t step, double base)>;
/// The same where groups have curves of their own.
struct GroupCurve {
  std::function<double(int64_t step, double base, size_t group)> rate = nullptr;
};

/// `each` of the group where there is one of each, else `one`.
inline double of_group(double one, const std::vector<double>& each, size_t group) {
  return each.empty() ? one : each[group];
}
/// Error unless `each` is empty or has a number for each group of the optimizer.
void check_groups(const char* field, const std::vector<double>& each, const Optimizer& optimizer);
/// Error unless they ascend from 0 on; two may be the same.
void check_milestones(const std::vector<int64_t>& milestones);

/// Sets the lr of every group to curve(number of steps, the group's lr at the start), from construction on. What else
/// sets an lr is overwritten by the next step; a group that is added later keeps its own. A schedule that outlives
/// its optimizer throws an Error when it is used. The schedules themselves are in curve_schedules.h, cyclic.h,
/// one_cycle.h and plateau.h.
class Schedule {
 public:
  Schedule(Optimizer& optimizer, const Curve& curve);
  Schedule(Optimizer& optimizer, GroupCurve curve);
  virtual ~Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  virtual void step();
  int64_t steps() const { return steps_; }
  double lr(size_t group = 0) const { return optimizer().lr(group); }

  /// Where it stands, and the rates at the start; load_state_dict also sets the optimizer's rates. Error where it does
  /// not fit, with nothing changed.
  State state_dict() const;
  void load_state_dict(const State& state);

 protected:
  /// Without a curve: the rates change otherwise.
  explicit Schedule(Optimizer& optimizer);
  /// Error where it is gone.
  Optimizer& optimizer() const { return optimizer_.get("Schedule"); }
  /// Sets what depends on steps().
  virtual void apply();
  /// What a schedule keeps beside its steps; `load` throws before it changes anything.
  virtual void save(State& /*out*/) const {}
  virtual void load(const State& /*state*/) {}
  /// load_state_dict() where nothing needs to be taken back.
  void put(const State& state);
  /// A number of a state; Error where it is missing.
  static double number(const State& state, const std::string& key);
  /// SGD's and RMSprop's momentum, Adam's beta1.
  void set_momentum(double value);
  void count() { ++steps_; }
  void uncount() { --steps_; }

 private:
  friend class JoinedSchedules;
  /// step() of a schedule that is one of several; those that need a metric get it.
  virtual void advance(std::optional<double> /*metric*/) { step(); }

  OptimizerHandle optimizer_;
  GroupCurve curve_;
  std::vector<double> base_;  // the lr of every group at the start
  int64_t steps_ = 0;
};

}  // namespace weft::optim
