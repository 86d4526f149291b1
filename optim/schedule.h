// Learning rate schedules. Call `schedule.step()` after `optimizer.step()`.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "optim/optimizer.h"

namespace weft::optim {

/// The learning rate after `step` steps for a group whose base learning rate is `base`.
using Curve = std::function<double(int64_t step, double base)>;
/// A Curve that also depends on the group.
struct GroupCurve {
  std::function<double(int64_t step, double base, size_t group)> rate = nullptr;
};

namespace detail {
/// each[group] if `each` is not empty, else `one`.
inline double of_group(double one, const std::vector<double>& each, size_t group) {
  return each.empty() ? one : each[group];
}
/// Error unless `each` is empty or has one number per group of the optimizer.
void check_groups(const char* field, const std::vector<double>& each, const Optimizer& optimizer);
/// Error unless it is positive: that of a cycle.
void check_max_lr(double max_lr);
/// Error unless both are in [0, 1).
void check_cycled_momentum(double base, double max);
/// Error unless the milestones ascend from 0 on; equal ones are allowed.
void check_milestones(const std::vector<int64_t>& milestones);
/// The momenta of all groups (beta1 of Adam), which schedules may set when they are made, step or load a state.
class KeptMomenta {
 public:
  explicit KeptMomenta(Optimizer& optimizer);
  void put_back() const;
  void save(State& out) const;
  /// Replaces those that `state` has.
  void take(const State& state);

 private:
  struct Value {
    const char* name;
    size_t group;
    double value;
  };
  Optimizer& optimizer_;
  std::vector<Value> values_;
};
}  // namespace detail

/// Sets the lr of every group to curve(number of steps, the group's lr at construction), from construction on. An lr
/// that is set elsewhere is overwritten by the next step; step() throws an Error if another schedule set it after the
/// same step of the optimizer, or if a ReduceOnPlateau or SWALR changed the rates since this schedule was made (combine
/// the two with joined.h). A group that is added later keeps its own lr. Using a schedule after its optimizer was
/// destroyed is an Error. The concrete schedules are in curve_schedules.h, cyclic.h, one_cycle.h, plateau.h and
/// swa_lr.h; joined.h combines them.
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

  /// The number of steps, and the initial and present learning rates. load_state_dict() also sets the optimizer's; it
  /// throws an Error, without changing anything, if the state does not fit.
  State state_dict() const;
  void load_state_dict(const State& state);

 protected:
  /// Without a curve: a derived class changes the learning rates itself.
  explicit Schedule(Optimizer& optimizer);
  /// The optimizer. Error if it was destroyed.
  Optimizer& optimizer() const { return optimizer_.get("Schedule"); }
  /// Sets the values that depend on steps().
  virtual void apply();
  /// apply() of a constructor: if it throws, the optimizer keeps its learning rates.
  void start();
  /// Saves and loads further state of a derived class. `load` must throw before it changes anything.
  virtual void save(State& /*out*/) const {}
  virtual void load(const State& /*state*/) {}
  /// load_state_dict() without the ability to undo it. Unless `applies`, the curve is not called: only the learning
  /// rates of the state are set.
  void put(const State& state, bool applies = true);
  /// A number from `state`. Error if it is missing.
  static double number(const State& state, const std::string& key) { return detail::number_of(state.numbers, key); }
  /// Sets the momentum of SGD and RMSprop, or beta1 of Adam.
  void set_momentum(double value);
  /// Error if another schedule than this one set the learning rates after the same step of the optimizer, or changed
  /// them without a curve.
  void check_step() const;
  /// The same, and notes that this schedule set them: after a step, as one that failed keeps no other from its own.
  void claim_step();
  /// To be called where a schedule without a curve changes a learning rate.
  void note_change();
  /// The present learning rates of all groups; and sets those of the first ones.
  using Rates = std::vector<double>;
  Rates rates() const;
  void set_rates(const Rates& rates);
  const Rates& base() const { return base_; }
  void count() { ++steps_; }
  void uncount() { --steps_; }

 private:
  friend class JoinedSchedules;
  // For a schedule that is part of a combination.
  /// step(); schedules that need a metric receive it.
  virtual void advance(std::optional<double> /*metric*/) { step(); }
  /// Its step 0 is now.
  virtual void restart() { steps_ = 0, apply(); }
  /// Whether it sets the momentum, or beta1.
  virtual bool sets_momentum() const { return false; }
  /// Sets the base learning rates, unless the schedule changes the current ones instead of computing them from a base.
  virtual void rebase(const Rates& rates) {
    if (curve_.rate) base_ = rates;
  }

  OptimizerHandle optimizer_;
  GroupCurve curve_;
  Rates base_;  // the lr of every group at construction
  int64_t steps_ = 0;
  bool is_part_ = false;   // of a combination, which owns it
  int64_t known_changes_;  // of the optimizer's rates by schedules without a curve
};

}  // namespace weft::optim
