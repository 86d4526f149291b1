// Optimizer: the base class of all optimizers. It holds the parameter groups and the state of each parameter.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "optim/group.h"
#include "tensor/core/owned.h"
#include "tensor/state_dict.h"

namespace weft::optim {

/// The state that an optimizer or a schedule needs to resume exactly: tensors and numbers by name. Integers among the
/// numbers are exact up to 2^53. To write the other numbers as text, keep 17 significant digits.
struct State {
  StateDict tensors;
  std::map<std::string, double> numbers;
};

namespace detail {
/// The number at `key` of a state. Error if it is missing.
double number_of(const std::map<std::string, double>& numbers, const std::string& key);
/// The same as a count. Error unless it is a whole number in [0, 2^53].
int64_t count_of(const std::map<std::string, double>& numbers, const std::string& key);
/// The largest absolute value, 0 for no elements. It is finite exactly if all elements are; a sum could overflow.
double largest(const Tensor& x);
}  // namespace detail

/// How several processes divide an optimizer's work; see distributed::shard().
struct Sharing {
  /// For each parameter, in the order of parameters(): whether this process updates it and holds its state.
  std::vector<bool> mine;
  /// Called after each step; fetches the parameters that other processes updated.
  std::function<void()> after_step;
  /// Adds the states of the other processes to `state`.
  std::function<void(State& state)> complete;
};

class Schedule;

class Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient; not recorded on the tape. After the first step, one warning names the
  /// parameters that had no gradient. The memory of new states is allocated before the first parameter changes, so that
  /// a first step that ends with a MemoryError for them can be repeated. A failure after that leaves some parameters
  /// updated, and the states of the one that failed may already include the gradient.
  void step();
  /// step() after `closure`, which computes the gradients and returns the loss; recorded even under NoGrad. Returns the
  /// loss. Error if there is no closure.
  virtual Tensor step(const std::function<Tensor()>& closure);
  /// If `on`, a step with NaN or Inf in any gradient is skipped: it changes only the count skipped().
  void skip_nonfinite(bool on = true) { skips_nonfinite_ = on; }
  /// The number of skipped steps.
  int64_t skipped() const { return skipped_; }
  /// Makes the gradients of all parameters undefined.
  void zero_grad();
  /// The names of the parameters that have had no gradient in any step so far.
  std::vector<std::string> unused() const;
  /// The number of steps that were not skipped.
  int64_t steps() const { return steps_; }
  /// The parameters of all groups, in order.
  std::vector<Tensor> parameters() const;

  /// The f32 master copies of 16-bit parameters, by parameter name, for groups with `master_weights`. It contains those
  /// that a step has created so far. They share the optimizer's memory until load_state_dict() replaces them.
  StateDict masters() const;

  size_t group_count() const { return groups_.size(); }
  double lr(size_t group = 0) const { return get("lr", group); }
  void set_lr(double value) { set("lr", value); }
  void set_lr(double value, size_t group) { set("lr", value, group); }
  template <std::integral G, class V>
    requires std::is_arithmetic_v<V>
  void set_lr(G group, V value) = delete;  // set_lr(value, group), as in set_lr(0.1, 0)
  /// Whether this optimizer has a hyper-parameter of this name: "lr", "weight_decay", "momentum", "beta1", ... Switches
  /// ("nesterov", "amsgrad", "centered", "maximize") are numbers too, 0 or 1.
  bool has(std::string_view name) const;
  /// The value of a hyper-parameter in one group. Error if there is none of that name, IndexError for a group out of
  /// range.
  double get(std::string_view name, size_t group = 0) const;
  /// Sets a hyper-parameter in all groups, or in one. Error, without changing anything, if the value is out of range.
  void set(std::string_view name, double value);
  void set(std::string_view name, double value, size_t group);
  /// Shares the work with other processes. From now on, this process updates only the parameters marked in
  /// `sharing.mine` and drops the state of the others. state_dict() is still complete on every process, and all
  /// processes must call it. Error if the number of entries differs from the number of parameters.
  void share(Sharing sharing);

  /// For example `SGD(lr=0.1, momentum=0.9, ...)`; with several groups `Adam([lr=0.1, ...], [lr=0.3, ...])`.
  std::string to_string() const;

  /// The state that step() has accumulated, and the hyper-parameters of the groups. The tensors share the optimizer's
  /// memory.
  virtual State state_dict() const;
  /// The part of the state that this process holds, which load_state_dict() can restore here. It equals state_dict()
  /// unless processes share the optimizer. It is not a collective call.
  State own_state() const;
  /// Copies a state from state_dict() into this optimizer. Error, without changing anything, if it does not fit;
  /// entries for a parameter or group that does not exist here do not fit. A switch that the state does not contain
  /// keeps its value. The old and the new tensors exist at the same time for a moment.
  virtual void load_state_dict(const State& state);

 protected:
  bool skips_nonfinite() const { return skips_nonfinite_; }
  void count_skipped() { ++skipped_, ++attempts_; }
  /// step() without the check for non-finite gradients.
  void update_all();
  /// Error if load_state_dict() could not restore `state`.
  void check_state(const State& state);
  void restore(const State& state);
  /// The state: of all processes that share the optimizer if `together`, else of this process only.
  State collect(bool together) const;

  /// The state of one parameter.
  struct Slot {
    Tensor parameter;
    /// Key in state_dict(): the parameter's name, or its index if it has no unique name.
    std::string key;
    int64_t steps = 0;  // number of updates
    std::vector<Tensor> states;
    std::vector<double> numbers;
    Tensor master;         // the f32 master copy, if the group has master_weights
    uint64_t written = 0;  // version of the parameter's memory that the master was rounded to
    /// What update() changes: the parameter, its master, or an f32 copy that is rounded afterwards.
    Tensor weights;
  };
  /// A group's options for 16-bit parameters (WEFT_HALF_PRECISION_FIELDS).
  struct HalfPrecision {
    bool master_weights = false, stochastic_rounding = false, bf16_states = false;
  };
  /// A hyper-parameter of a group by name; a switch is 0 or 1.
  struct Number {
    std::string_view name;
    Range range = Range::any;
    double* value = nullptr;
    int64_t* count = nullptr;
    bool* flag = nullptr;
    Number(std::string_view n, int64_t& field, Range r) : name(n), range(r), count(&field) {}
    Number(std::string_view n, double& field, Range r) : name(n), range(r), value(&field) {}
    Number(std::string_view n, bool& field, Range r) : name(n), range(r), flag(&field) {}
    double get() const;
    void put(double given) const;
    /// Error if `given` is out of range.
    void check(double given) const;
  };

  /// `name` is the optimizer's name; `states` and `numbers` are the names of what is stored per parameter.
  Optimizer(const char* name, std::vector<const char*> states, std::vector<const char*> numbers = {});
  /// Adds a group's parameters. Error if one is undefined, not a leaf, or already in a group.
  void add_slots(const std::vector<Tensor>& parameters);
  /// Error if no group has a parameter.
  void check_parameters() const;
  const char* name() const { return name_; }

  /// The hyper-parameters of a group, "lr" first.
  virtual std::vector<Number> numbers(size_t group) = 0;
  /// Why the values in a group contradict each other; null if they do not.
  virtual const char* conflict(size_t group) const = 0;
  virtual HalfPrecision half_precision(size_t group) const = 0;
  /// Updates `slot.weights`. Weights, gradient and states are f32 or f64. slot.steps already includes this step.
  virtual void update(size_t group, Slot& slot, const Tensor& gradient) = 0;
  /// Error if the optimizer does not support the parameter.
  virtual void check_parameter(const Tensor& /*parameter*/) const {}
  /// How many of the states, counted from the first, every updated parameter has; whether the others exist depends on
  /// options.
  virtual size_t least_states() const { return state_names_.size(); }
  /// Whether every updated parameter like this one has the state.
  virtual bool needs_state(const Tensor& /*parameter*/, size_t state) const { return state < least_states(); }
  /// Whether the group's options and the parameter's shape call for the state.
  virtual bool wants_state(size_t /*group*/, const Tensor& /*parameter*/, size_t /*state*/) const { return true; }
  /// The shape of a state; by default the parameter's.
  virtual Shape state_shape(const Tensor& parameter, size_t state) const;
  /// The wanted states of the slot, in the constructor's order; the others are undefined:
  ///   const auto [average, square, largest] = states<3>(group, slot);
  /// A new state is zeros, in f32, or f64 for an f64 parameter.
  template <size_t n> std::array<Tensor, n> states(size_t group, Slot& slot) const {
    std::array<Tensor, n> out;
    for (size_t i = 0; i < n; ++i)
      if (wants_state(group, slot.parameter, i)) out[i] = state(slot, i);
    return out;
  }

 private:
  friend class GradScaler;
  friend class OptimizerHandle;
  friend class Schedule;
  /// The schedule that set the learning rates last, after how many attempted steps, and how often a schedule without a
  /// curve (plateau.h, swa_lr.h) has changed them.
  struct Scheduled {
    const Schedule* by = nullptr;
    int64_t attempt = 0;
    int64_t changes = 0;
  };

  Tensor state(Slot& slot, size_t index) const;
  Tensor new_state(const Tensor& parameter, size_t index, DType dtype) const;
  void reserve_states() const;
  /// `random` rounds; null unless rounds_at_random().
  void update_slot(size_t group, Slot& slot, const Tensor& gradient, Generator* random);
  void update_in_f32(size_t group, Slot& slot, const Tensor& gradient, Generator* random);
  bool rounds_at_random() const;
  void take_master(Slot& slot) const;
  /// Why the values that `state` has for a group contradict each other; null if they do not.
  const char* conflict_of(size_t group, const State& state);
  class NumbersGiven;
  Slot restored(const Slot& slot, bool mine, bool bf16_states, const State& state) const;
  bool is_finite() const;
  std::optional<Number> find(std::string_view name, size_t group) const;
  void warn_unused() const;
  /// Whether this process updates parameter `number`.
  bool is_mine(size_t number) const { return sharing_.mine.empty() || sharing_.mine[number]; }
  void drop_shared_states();
  template <class F> void each_slot(const F& visit);
  template <class F> void each_slot(const F& visit) const;

  const char* name_;
  std::vector<const char*> state_names_, number_names_;
  std::vector<std::vector<Slot>> groups_;
  /// The parameters and keys of all groups.
  struct Known;
  Owned<Known> known_;
  int64_t steps_ = 0, skipped_ = 0;
  int64_t attempts_ = 0;  // steps and skipped ones, those that a GradScaler skipped too
  bool skips_nonfinite_ = false;
  Scheduled scheduled_;
  double gradient_factor_ = 1;  // multiplies 16-bit gradients after their conversion to f32
  Sharing sharing_;             // empty: this process does all the work
  /// The optimizer as its handles know it; null after its end.
  struct Self final : SharedObject {
    explicit Self(Optimizer* self) : optimizer(self) {}
    Optimizer* optimizer;
  };
  IntrusivePtr<Self> self_ = IntrusivePtr<Self>::adopt(new Self(this));
};

/// A weak reference to an optimizer, as schedules hold it. Using it after the optimizer was destroyed is an Error.
class OptimizerHandle {
 public:
  OptimizerHandle(Optimizer& optimizer) : self_(optimizer.self_) {}
  /// Error if the optimizer was destroyed; `who` is the class that holds the handle.
  Optimizer& get(const char* who) const;

 private:
  IntrusivePtr<Optimizer::Self> self_;
};

std::ostream& operator<<(std::ostream& out, const Optimizer& optimizer);

namespace detail {
/// The default options with this learning rate.
template <class Options, std::floating_point T> Options with_lr(T lr) { return {.lr = static_cast<double>(lr)}; }
}  // namespace detail

/// An optimizer whose hyper-parameters are a struct `Options` with fields() (tensor/core/hyper_parameters.h). All
/// access by name is derived from that list.
template <class Options> class OptimizerOf : public Optimizer {
 public:
  using Group = typename detail::GroupOf<Options>::type;
  /// Adds a group between two steps. Options that it does not set are those that the optimizer was constructed with.
  /// Error if a parameter is undefined, not a leaf, or already in a group, and after share().
  void add_group(const Group& group) { add(group.parameters, detail::with_fields(defaults_, group)); }

 protected:
  using Optimizer::Optimizer;

  void start(const std::vector<Tensor>& parameters, const Options& options) {
    defaults_ = options;
    add(parameters, options);
    check_parameters();
  }
  void start(const std::vector<Group>& groups, const Options& options) {
    defaults_ = options;
    for (const Group& group : groups) add(group.parameters, detail::with_fields(options, group));
    check_parameters();
  }
  const Options& options(size_t group) const { return options_[group]; }

 private:
  void add(const std::vector<Tensor>& parameters, const Options& options) {
    ErrorFrame frame(name());
    options_.push_back(options);
    try {
      const size_t group = options_.size() - 1;
      for (const Number& number : numbers(group)) number.check(number.get());
      if (const char* why = conflict(group)) throw Error(why);
      add_slots(parameters);
    } catch (...) {
      options_.pop_back();
      throw;
    }
  }
  std::vector<Number> numbers(size_t group) final {
    std::vector<Number> out;
    Options::fields(options_[group], [&](std::string_view name, auto& field, Range range) {
      out.push_back({name, field, range});
    });
    return out;
  }
  HalfPrecision half_precision([[maybe_unused]] size_t group) const final {
    if constexpr (requires(const Options& options) { options.master_weights; }) {
      const Options& o = options_[group];
      return {o.master_weights, o.stochastic_rounding, o.bf16_states};
    }
    return {};
  }
  const char* conflict(size_t group) const final {
    const HalfPrecision half = half_precision(group);
    if (half.master_weights && half.stochastic_rounding)
      return "master_weights leave nothing to stochastic_rounding; set one of the two";
    if constexpr (requires(const Options& options) { options.conflict(); }) return options_[group].conflict();
    return nullptr;
  }

  std::vector<Options> options_;  // per group
  Options defaults_;
};

}  // namespace weft::optim
