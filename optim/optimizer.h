// Optimizer: the base of all optimizers. It knows the parameters, in groups, and what is kept for each.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optim/group.h"
#include "tensor/state_dict.h"

namespace weft::optim {

/// What an optimizer or a schedule needs to carry on exactly: tensors and numbers by name. Integers among the numbers
/// are exact up to 2^53; keep all 17 digits of the others.
struct State {
  StateDict tensors;
  std::map<std::string, double> numbers;
};

/// How several processes share one optimizer's work (distributed::shard()).
struct Sharing {
  /// Of each parameter, in the order of parameters(): whether it is updated here, and its state kept here.
  std::vector<bool> mine;
  /// Called after each step: brings the parameters that others updated.
  std::function<void()> after_step;
  /// Adds to a state what the others keep.
  std::function<void(State& state)> complete;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient, outside of the tape. After the first step, one warning names those
  /// that had none.
  void step();
  /// With `on`, a step in which some gradient holds NaN or Inf changes nothing but the count skipped().
  void skip_nonfinite(bool on = true) { skips_nonfinite_ = on; }
  /// How many steps were skipped.
  int64_t skipped() const { return skipped_; }
  /// Makes the gradients of all parameters undefined.
  void zero_grad();
  /// The names of the parameters that had a gradient in no step so far.
  std::vector<std::string> unused() const;
  /// How often step() ran and was not skipped.
  int64_t steps() const { return steps_; }
  /// The parameters of all groups, in order.
  std::vector<Tensor> parameters() const;

  /// The f32 copies of parameters of 16 bits that groups with `master_weights` keep, by the parameters' names; those
  /// that a step has made so far. They share the optimizer's memory, until load_state_dict() makes new ones.
  StateDict masters() const;

  size_t group_count() const { return groups_.size(); }
  double lr(size_t group = 0) const { return get("lr", group); }
  void set_lr(double value) { set("lr", value); }
  void set_lr(size_t group, double value) { set("lr", value, group); }
  /// Whether this optimizer has the number: "lr", "weight_decay", "momentum", "beta1", ... Switches ("nesterov",
  /// "amsgrad", "centered", "maximize") are numbers too: 0 or 1.
  bool has(std::string_view name) const;
  /// A number of one group. Error where there is none of that name, IndexError for a group out of range.
  double get(std::string_view name, size_t group = 0) const;
  /// Changes it in all groups, or in one. Error where the value is out of range.
  void set(std::string_view name, double value);
  void set(std::string_view name, double value, size_t group);
  /// From now on, only `sharing.mine` is updated and has a state here; the state of others is dropped. state_dict() is
  /// complete on every process, all of which call it. Error where the numbers of parameters differ.
  void share(Sharing sharing);

  /// `SGD(lr=0.1, momentum=0.9, ...)`; with several groups `Adam([lr=0.1, ...], [lr=0.3, ...])`.
  std::string to_string() const;

  /// All that step() has built up, and the numbers of the groups. Tensors share the optimizer's memory.
  virtual State state_dict() const;
  /// What this process has of it, which load_state_dict() restores here: the same unless processes share the optimizer,
  /// and no call of all of them then.
  State own_state() const;
  /// Restores what state_dict() gave, by copy, after checking that it fits: Error otherwise, with nothing changed, also
  /// for what belongs to no parameter or group here. A switch that the state does not have stays as it is.
  virtual void load_state_dict(const State& state);

 protected:
  bool skips_nonfinite() const { return skips_nonfinite_; }
  void count_skipped() { ++skipped_; }
  /// step() but for its question whether all gradients are finite.
  void update_all();
  /// Error where load_state_dict() could not restore `state`.
  void check_state(const State& state);
  void restore(const State& state);
  /// The state; `together`: of all processes that share the optimizer, else what is here.
  State collect(bool together) const;

  /// What is kept for one parameter.
  struct Slot {
    Tensor parameter;
    std::string key;    // in state_dict(): its name, or its number where it has none of its own; unlike all others
    int64_t steps = 0;  // that updated it
    std::vector<Tensor> states;
    std::vector<double> numbers;
    Tensor master;         // the parameter in f32, where its group keeps masters of 16 bits
    uint64_t written = 0;  // the version of the parameter's memory that the master was rounded to
    Tensor weights;  // what update() changes: the parameter, its master, or a copy in f32 that is rounded after it
  };
  /// What a group says of 16 bits (WEFT_HALF_PRECISION_FIELDS).
  struct HalfPrecision {
    bool master_weights = false, stochastic_rounding = false, bf16_states = false;
  };
  /// A number of a group by name, or a switch, which counts as 0 or 1.
  struct Number {
    std::string_view name;
    Range range = Range::any;
    double* value = nullptr;
    int64_t* count = nullptr;
    bool* flag = nullptr;
    Number(std::string_view name, int64_t& count, Range range) : name(name), range(range), count(&count) {}
    Number(std::string_view name, double& value, Range range) : name(name), range(range), value(&value) {}
    Number(std::string_view name, bool& flag, Range range) : name(name), range(range), flag(&flag) {}
    double get() const;
    void put(double given) const;
    /// Error where `given` is out of range.
    void check(double given) const;
  };

  /// `states` and `numbers` name what is kept per parameter; `name` is the optimizer's.
  Optimizer(const char* name, std::vector<const char*> states, std::vector<const char*> numbers = {})
      : name_(name), state_names_(std::move(states)), number_names_(std::move(numbers)) {}
  /// Error where a parameter is undefined, not a leaf, or in a group already.
  void add_slots(const std::vector<Tensor>& parameters);
  /// Error where no group holds a parameter.
  void check_parameters() const;
  const char* name() const { return name_; }

  /// The numbers and switches of a group, "lr" first.
  virtual std::vector<Number> numbers(size_t group) = 0;
  /// Why the numbers of a group do not go together; null where they do.
  virtual const char* conflict(size_t group) const = 0;
  virtual HalfPrecision half_precision(size_t group) const = 0;
  /// Updates `slot.weights`, in f32 or f64 as the gradient and the states; slot.steps counts this step already.
  virtual void update(size_t group, Slot& slot, const Tensor& gradient) = 0;
  /// Error where the optimizer cannot take the parameter.
  virtual void check_parameter(const Tensor& /*parameter*/) const {}
  /// How many of the first states every parameter has that was updated; the others depend on options.
  virtual size_t least_states() const { return state_names_.size(); }
  /// The shape of a state: the parameter's, unless an optimizer says otherwise.
  virtual Shape state_shape(const Tensor& parameter, size_t state) const;
  /// The states of the slot that are wanted, in the constructor's order, the others undefined:
  ///   const auto [average, square, largest] = states(slot, {true, true, o.amsgrad});
  /// A new one is zeros; all are f32, or f64 where the parameter is.
  template <size_t n> std::array<Tensor, n> states(Slot& slot, const bool (&wanted)[n]) const {
    std::array<Tensor, n> out;
    for (size_t i = 0; i < n; ++i)
      if (wanted[i]) out[i] = state(slot, i);
    return out;
  }

 private:
  friend class GradScaler;
  friend class OptimizerHandle;

  Tensor state(Slot& slot, size_t index) const;
  Tensor new_state(const Tensor& parameter, size_t index, DType dtype) const;
  void update_slot(size_t group, Slot& slot, const Tensor& gradient);
  void update_in_f32(size_t group, Slot& slot, const Tensor& gradient);
  void take_master(Slot& slot) const;
  /// Why the numbers that `state` gives a group do not go together; null where they do.
  const char* conflict_of(size_t group, const State& state);
  bool is_finite() const;
  std::optional<Number> find(std::string_view name, size_t group) const;
  void warn_unused() const;
  /// Whether parameter `number` is updated here.
  bool is_mine(size_t number) const { return sharing_.mine.empty() || sharing_.mine[number]; }
  void drop_shared_states();
  template <class F> void each_slot(const F& visit);
  template <class F> void each_slot(const F& visit) const;

  const char* name_;
  std::vector<const char*> state_names_, number_names_;
  std::vector<std::vector<Slot>> groups_;
  int64_t steps_ = 0, skipped_ = 0;
  bool skips_nonfinite_ = false;
  double gradient_factor_ = 1;                                             // of gradients of 16 bits, once they are f32
  Sharing sharing_;                                                        // empty: all is done here
  std::shared_ptr<Optimizer*> self_ = std::make_shared<Optimizer*>(this);  // expires with it
};

/// A weak reference to an optimizer, for schedules and the like: to use it after the optimizer's end is an Error.
class OptimizerHandle {
 public:
  OptimizerHandle(Optimizer& optimizer) : self_(optimizer.self_) {}
  /// Error where the optimizer is gone; `who` holds the handle.
  Optimizer& get(const char* who) const;

 private:
  std::weak_ptr<Optimizer*> self_;
};

std::ostream& operator<<(std::ostream& out, const Optimizer& optimizer);

/// An optimizer whose hyper-parameters are an `Options` with fields() (tensor/core/hyper_parameters.h): everything that
/// goes by their names follows from that list.
template <class Options> class OptimizerOf : public Optimizer {
 public:
  using Group = typename detail::GroupOf<Options>::type;
  /// One more group, between two steps. What it leaves out is inherited from the options that the optimizer was made
  /// with. Error where a parameter is undefined, not a leaf, or in a group already, and after share().
  void add_group(const Group& group) { add(group.parameters, detail::with_fields(*defaults_, group)); }

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
  std::optional<Options> defaults_;
};

}  // namespace weft::optim
