// Optimizer: the base of SGD, Adam, AdamW and RMSprop. It knows the parameters, in groups, and what is kept for each.
#pragma once

#include <array>
#include <iosfwd>
#include <map>
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

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient, outside of the tape. After the first step, one warning names those
  /// that had none.
  void step();
  /// Makes the gradients of all parameters undefined.
  void zero_grad();
  /// The names of the parameters that had a gradient in no step so far.
  std::vector<std::string> unused() const;
  /// How often step() ran.
  int64_t steps() const { return steps_; }
  /// The parameters of all groups, in order.
  std::vector<Tensor> parameters() const;

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
  /// `SGD(lr=0.1, momentum=0.9, ...)`; with several groups `Adam([lr=0.1, ...], [lr=0.3, ...])`.
  std::string to_string() const;

  /// All that step() has built up, and the numbers of the groups. Tensors share the optimizer's memory.
  State state_dict() const;
  /// Restores what state_dict() gave, by copy, after checking that it fits (Error otherwise, with nothing changed).
  void load_state_dict(const State& state);

 protected:
  /// What is kept for one parameter.
  struct Slot {
    Tensor parameter;
    std::string key;    // in state_dict(): its name, or its number where it has none of its own
    int64_t steps = 0;  // that updated it
    std::vector<Tensor> states;
  };
  /// A number of a group by name, or a switch, which counts as 0 or 1.
  struct Number {
    std::string_view name;
    Range range = Range::any;
    double* value = nullptr;
    bool* flag = nullptr;
    Number(std::string_view name, double& value, Range range) : name(name), range(range), value(&value) {}
    Number(std::string_view name, bool& flag, Range range) : name(name), range(range), flag(&flag) {}
    double get() const { return flag != nullptr ? static_cast<double>(*flag) : *value; }
    void put(double given) const { flag != nullptr ? void(*flag = given != 0) : void(*value = given); }
    /// Error where `given` is out of range.
    void check(double given) const;
  };

  /// `states` names what is kept per parameter; `name` is the optimizer's.
  Optimizer(const char* name, std::vector<const char*> states) : name_(name), state_names_(std::move(states)) {}
  /// Error where a parameter is undefined, not a leaf, or in a group already.
  void add_group(const std::vector<Tensor>& parameters);
  /// Error where no group holds a parameter.
  void check_parameters() const;
  const char* name() const { return name_; }

  /// The numbers and switches of a group, "lr" first.
  virtual std::vector<Number> numbers(size_t group) = 0;
  /// Why the numbers of a group do not go together; null where they do.
  virtual const char* conflict(size_t group) const = 0;
  /// Updates `slot.parameter`; slot.steps counts this step already.
  virtual void update(size_t group, Slot& slot, const Tensor& gradient) = 0;
  /// The states of the slot that are wanted, in the constructor's order, the others undefined:
  ///   const auto [average, square, largest] = states(slot, {true, true, o.amsgrad});
  /// A new one is zeros; all follow the parameter's dtype.
  template <size_t n>
  static std::array<Tensor, n> states(Slot& slot, const bool (&wanted)[n]) {
    std::array<Tensor, n> out;
    for (size_t i = 0; i < n; ++i)
      if (wanted[i]) out[i] = state(slot, i);
    return out;
  }

 private:
  static Tensor state(Slot& slot, size_t index);
  std::optional<Number> find(std::string_view name, size_t group) const;
  void warn_unused() const;
  template <class F>
  void each_slot(const F& visit);
  template <class F>
  void each_slot(const F& visit) const;

  const char* name_;
  std::vector<const char*> state_names_;
  std::vector<std::vector<Slot>> groups_;
  int64_t steps_ = 0;
};

std::ostream& operator<<(std::ostream& out, const Optimizer& optimizer);

/// An optimizer whose hyper-parameters are an `Options` with fields() (tensor/core/hyper_parameters.h): everything that
/// goes by their names follows from that list.
template <class Options>
class OptimizerOf : public Optimizer {
 protected:
  using Optimizer::Optimizer;

  void start(const std::vector<Tensor>& parameters, const Options& options) {
    add(parameters, options);
    check_parameters();
  }
  template <class Group>
  void start(const std::vector<Group>& groups, const Options& options) {
    for (const Group& group : groups) add(group.parameters, detail::with_fields(options, group));
    check_parameters();
  }
  const Options& options(size_t group) const { return options_[group]; }

 private:
  void add(const std::vector<Tensor>& parameters, const Options& options) {
    Frame frame(name());
    options_.push_back(options);
    const size_t group = options_.size() - 1;
    for (const Number& number : numbers(group)) number.check(number.get());
    if (const char* why = conflict(group)) throw Error(why);
    add_group(parameters);
  }
  std::vector<Number> numbers(size_t group) final {
    std::vector<Number> out;
    Options::fields(options_[group], [&](std::string_view name, auto& field, Range range) {
      out.push_back({name, field, range});
    });
    return out;
  }
  const char* conflict([[maybe_unused]] size_t group) const final {
    if constexpr (requires(const Options& options) { options.conflict(); }) return options_[group].conflict();
    return nullptr;
  }

  std::vector<Options> options_;  // per group
};

}  // namespace weft::optim
