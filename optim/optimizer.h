// Optimizer: the base of SGD, Adam, AdamW and RMSprop. It knows the parameters, in groups, and what is kept for each.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/state_dict.h"

namespace weft::optim {

/// What an optimizer or a schedule needs to carry on exactly: tensors and numbers by name. Integers among the numbers are
/// exact up to 2^53; keep all 17 digits of the others.
struct State {
  StateDict tensors;
  std::map<std::string, double> numbers;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient, outside of the tape. After the first step, one warning names those that
  /// had none.
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
  /// Whether this optimizer has the number: "lr", "weight_decay", "momentum", "beta1", ... Switches ("nesterov", "amsgrad",
  /// "centered", "maximize") are numbers too: 0 or 1.
  bool has(std::string_view name) const;
  /// A number of one group. Error where there is none of that name, IndexError for a group out of range.
  double get(std::string_view name, size_t group = 0) const;
  /// Changes it in all groups, or in one.
  void set(std::string_view name, double value);
  void set(std::string_view name, double value, size_t group);

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
    double* value = nullptr;
    bool* flag = nullptr;
    Number(std::string_view name, double* value) : name(name), value(value) {}
    Number(std::string_view name, bool* flag) : name(name), flag(flag) {}
    double get() const { return flag != nullptr ? static_cast<double>(*flag) : *value; }
    void put(double given) const { flag != nullptr ? void(*flag = given != 0) : void(*value = given); }
  };

  /// `states` names what is kept per parameter; `name` is the optimizer's.
  Optimizer(const char* name, std::vector<const char*> states) : name_(name), state_names_(std::move(states)) {}
  /// Error where a parameter is undefined, not a leaf, or in a group already.
  void add_group(const std::vector<Tensor>& parameters);
  /// Throws Error where `name` is not at least 0 (or is not below `limit`).
  void check_number(const char* name, double value) const;
  void check_fraction(const char* name, double value) const;

  /// The numbers and switches of a group, "lr" first.
  virtual std::vector<Number> numbers(size_t group) = 0;
  /// Updates `slot.parameter`; slot.steps counts this step already.
  virtual void update(size_t group, Slot& slot, const Tensor& gradient) = 0;
  /// The state number `index` of the slot, zeros where it is new (`*created` says so). Follows the parameter's dtype.
  static Tensor state(Slot& slot, size_t index, bool* created = nullptr);

 private:
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

}  // namespace weft::optim
