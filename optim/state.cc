// Saving and restoring what an optimizer has built up. Keys: tensors `first.conv.weight.exp_avg`, numbers
// `first.conv.weight.step`, `group.0.lr`, `group.0.nesterov` (switches are saved as PyTorch's param_groups are),
// `steps`. Where masters are kept, `first.conv.weight.master` is the parameter in f32.
#include <cmath>

#include "autograd/grad_mode.h"
#include "optim/half_precision.h"
#include "optim/optimizer.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"

namespace weft::optim {

double detail::number_of(const std::map<std::string, double>& numbers, const std::string& key) {
  const auto found = numbers.find(key);
  if (found == numbers.end()) throw Error(text("the state does not fit: missing ", key));
  return found->second;
}

int64_t detail::count_of(const std::map<std::string, double>& numbers, const std::string& key) {
  const double value = number_of(numbers, key);
  if (!(value >= 0 && value <= 0x1p53 && value == std::floor(value)))
    throw Error(text("the state does not fit: ", key, " is ", value));
  return static_cast<int64_t>(value);
}

namespace {
using detail::count_of;

constexpr const char* kSkipped = "skipped";  // absent unless skip_nonfinite() is on or was

constexpr const char* kMaster = ".master";

std::string group_key(size_t group, std::string_view name) { return text("group.", group, ".", name); }

/// Compares what a state gives with what the optimizer asks for, key by key.
class StateCheck {
 public:
  explicit StateCheck(const State& given) : given_(given) {}

  void refuse(std::string problem) { problems_.push_back(std::move(problem)); }

  bool has_number(const std::string& key) {
    const bool found = given_.numbers.contains(key);
    numbers_ += found ? 1 : 0;
    if (!found) refuse("missing " + key);
    return found;
  }

  /// The number at `key`, which counts steps; 0 if it is missing.
  int64_t count(const std::string& key) { return has_number(key) ? count_of(given_.numbers, key) : 0; }

  void tensor(const std::string& key, const Shape& wanted, bool required) {
    const auto found = given_.tensors.find(key);
    if (found == given_.tensors.end()) {
      if (required) refuse("missing " + key);
      return;
    }
    ++tensors_;
    const Shape& shape = found->second.shape();
    if (shape != wanted) refuse(text(key, " has shape ", shape, " instead of ", wanted));
  }

  /// Throws if there is a problem, or if the state has entries that were not asked for.
  void end() {
    if (tensors_ != given_.tensors.size())
      refuse(text(given_.tensors.size() - tensors_, " tensors of other parameters"));
    if (numbers_ != given_.numbers.size())
      refuse(text(given_.numbers.size() - numbers_, " numbers of other parameters or groups"));
    if (!problems_.empty())
      throw Error(text("the state does not fit: ", problems_[0], problems_.size() > 1 ? " and more" : ""), problems_);
  }

 private:
  const State& given_;
  std::vector<std::string> problems_;
  size_t tensors_ = 0, numbers_ = 0;  // how many of the state's were asked for
};

}  // namespace

State Optimizer::state_dict() const { return collect(true); }

State Optimizer::own_state() const { return sharing_.mine.empty() ? state_dict() : collect(false); }

State Optimizer::collect(bool together) const {
  State out;
  size_t number = 0;
  for (const std::vector<Slot>& group : groups_)
    for (const Slot& slot : group) {
      if (!is_mine(number++) && together) continue;  // another process updates it
      out.numbers[slot.key + ".step"] = static_cast<double>(slot.steps);
      for (size_t k = 0; k < slot.numbers.size(); ++k) out.numbers[slot.key + "." + number_names_[k]] = slot.numbers[k];
      for (size_t k = 0; k < slot.states.size(); ++k)
        if (slot.states[k].defined()) out.tensors[slot.key + "." + state_names_[k]] = slot.states[k];
      if (slot.master.defined()) out.tensors[slot.key + kMaster] = slot.master;
    }
  if (together && sharing_.complete) sharing_.complete(out);
  out.numbers["steps"] = static_cast<double>(steps_);
  if (skips_nonfinite_ || skipped_ > 0) out.numbers[kSkipped] = static_cast<double>(skipped_);
  for (size_t i = 0; i < groups_.size(); ++i)
    for (const Number& field : const_cast<Optimizer*>(this)->numbers(i))
      if (field.range != Range::option || field.get() != 0) out.numbers[group_key(i, field.name)] = field.get();
  return out;
}

void Optimizer::load_state_dict(const State& given) {
  ErrorFrame frame(name_);
  NoGrad guard;
  check_state(given);
  restore(given);
}

/// The numbers of groups, with their present values and those of a state. put() and put_back() need no memory.
class Optimizer::NumbersGiven {
 public:
  void add(size_t group, const std::vector<Number>& numbers, const State& given) {
    for (const Number& number : numbers) {
      const auto found = given.numbers.find(group_key(group, number.name));
      before_.push_back(number.get());
      given_.push_back(found != given.numbers.end() ? found->second : before_.back());
      numbers_.push_back(number);
    }
  }
  void put() const { put(given_); }
  void put_back() const { put(before_); }

 private:
  void put(const std::vector<double>& values) const {
    for (size_t i = 0; i < numbers_.size(); ++i) numbers_[i].put(values[i]);
  }
  std::vector<Number> numbers_;
  std::vector<double> before_, given_;
};

const char* Optimizer::conflict_of(size_t group, const State& given) {
  NumbersGiven values;
  values.add(group, numbers(group), given);
  values.put();
  const char* why = conflict(group);
  values.put_back();
  return why;
}

void Optimizer::check_state(const State& given) {
  StateCheck check(given);
  (void)check.count("steps");
  if (given.numbers.contains(kSkipped)) (void)check.count(kSkipped);
  size_t number = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    bool complete = true;
    for (const Number& field : numbers(i)) {
      const std::string key = group_key(i, field.name);
      if (field.range == Range::option && !given.numbers.contains(key)) continue;
      if (check.has_number(key))
        field.check(given.numbers.at(key));
      else
        complete = false;
    }
    if (const char* why = complete ? conflict_of(i, given) : nullptr) check.refuse(text("group ", i, ": ", why));
    for (const Slot& slot : groups_[i]) {
      const bool mine = is_mine(number++), needed = check.count(slot.key + ".step") > 0 && mine;
      for (const char* name : number_names_) (void)check.has_number(slot.key + "." + name);
      for (size_t k = 0; k < state_names_.size(); ++k)
        check.tensor(slot.key + "." + state_names_[k], state_shape(slot.parameter, k),
                     needed && needs_state(slot.parameter, k));
      check.tensor(slot.key + kMaster, slot.parameter.shape(), false);
    }
  }
  check.end();
}

Optimizer::Slot Optimizer::restored(const Slot& slot, bool mine, bool bf16_states, const State& given) const {
  Slot out = slot;
  out.steps = static_cast<int64_t>(given.numbers.at(slot.key + ".step"));
  for (size_t k = 0; k < out.numbers.size(); ++k) out.numbers[k] = given.numbers.at(slot.key + "." + number_names_[k]);
  const auto copied = [&](const std::string& key, const auto& blank) {
    const auto found = given.tensors.find(key);
    return found == given.tensors.end() || !mine ? Tensor() : blank().copy_(found->second);
  };
  const DType dtype = stored_dtype(slot.parameter, bf16_states);
  for (size_t k = 0; k < out.states.size(); ++k)
    out.states[k] = copied(slot.key + "." + state_names_[k], [&] { return new_state(slot.parameter, k, dtype); });
  out.master = copied(slot.key + kMaster, [&] { return zeros_like(slot.parameter.detach(), f32); });
  out.written = kUnknownVersion;
  return out;
}

void Optimizer::restore(const State& given) {
  // Everything that needs memory comes first, so that a failure changes nothing.
  const auto steps = static_cast<int64_t>(given.numbers.at("steps"));
  const int64_t skipped = given.numbers.contains(kSkipped) ? count_of(given.numbers, kSkipped) : 0;
  std::vector<std::vector<Slot>> groups(groups_.size());
  NumbersGiven values;
  for (size_t i = 0; i < groups.size(); ++i) values.add(i, numbers(i), given);
  values.put();
  try {
    size_t number = 0;
    for (size_t i = 0; i < groups.size(); ++i)
      for (const Slot& slot : groups_[i])
        groups[i].push_back(restored(slot, is_mine(number++), half_precision(i).bf16_states, given));
  } catch (...) {
    values.put_back();
    throw;
  }
  groups_ = std::move(groups);
  steps_ = steps;
  skipped_ = skipped;
}

StateDict Optimizer::masters() const {
  StateDict out;
  for (const std::vector<Slot>& group : groups_)
    for (const Slot& slot : group)
      if (slot.master.defined()) out[slot.key] = slot.master;
  return out;
}

}  // namespace weft::optim
