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

int64_t detail::count_of(std::string_view key, double value) {
  if (!(value >= 0 && value <= 0x1p53 && value == std::floor(value)))
    throw Error(text("the state does not fit: ", key, " is ", value));
  return static_cast<int64_t>(value);
}

namespace {
using detail::count_of;

constexpr const char* kSkipped = "skipped";  // absent where nothing was to be skipped

constexpr const char* kMaster = ".master";

std::string group_key(size_t group, std::string_view name) { return text("group.", group, ".", name); }

}  // namespace

State Optimizer::state_dict() const { return collect(true); }

State Optimizer::own_state() const { return sharing_.mine.empty() ? state_dict() : collect(false); }

State Optimizer::collect(bool together) const {
  State out;
  size_t number = 0;
  for (const std::vector<Slot>& group : groups_)
    for (const Slot& slot : group) {
      if (!is_mine(number++) && together) continue;  // what is here of it is not up to date
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

/// The numbers of groups, with the values that they have and those that a state gives. Neither change needs memory.
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
  std::vector<std::string> problems;
  size_t number = 0, tensors = 0, counted = 0;  // of what is given, those that belong here
  const auto check_number = [&](const std::string& key) {
    const bool found = given.numbers.contains(key);
    counted += found ? 1 : 0;
    if (!found) problems.push_back("missing " + key);
    return found;
  };
  const auto count_at = [&](const std::string& key) {
    return check_number(key) ? count_of(key, given.numbers.at(key)) : 0;
  };
  const auto check_tensor = [&](const std::string& key, const Shape& wanted, bool required) {
    const auto found = given.tensors.find(key);
    if (found == given.tensors.end()) {
      if (required) problems.push_back("missing " + key);
      return;
    }
    ++tensors;
    const Shape& shape = found->second.shape();
    if (shape != wanted) problems.push_back(text(key, " has shape ", shape, " instead of ", wanted));
  };
  (void)count_at("steps");
  if (given.numbers.contains(kSkipped)) (void)count_at(kSkipped);
  for (size_t i = 0; i < groups_.size(); ++i) {
    bool complete = true;
    for (const Number& number : numbers(i)) {
      const std::string key = group_key(i, number.name);
      if (number.range == Range::option && !given.numbers.contains(key)) continue;
      if (check_number(key))
        number.check(given.numbers.at(key));
      else
        complete = false;
    }
    if (const char* why = complete ? conflict_of(i, given) : nullptr) problems.push_back(text("group ", i, ": ", why));
    for (const Slot& slot : groups_[i]) {
      const bool mine = is_mine(number++), needed = count_at(slot.key + ".step") > 0 && mine;
      for (const char* name : number_names_) (void)check_number(slot.key + "." + name);
      for (size_t k = 0; k < state_names_.size(); ++k)
        check_tensor(slot.key + "." + state_names_[k], state_shape(slot.parameter, k),
                     needed && needs_state(slot.parameter, k));
      check_tensor(slot.key + kMaster, slot.parameter.shape(), false);
    }
  }
  if (tensors != given.tensors.size())
    problems.push_back(text(given.tensors.size() - tensors, " tensors of other parameters"));
  if (counted != given.numbers.size())
    problems.push_back(text(given.numbers.size() - counted, " numbers of other parameters or groups"));
  if (!problems.empty())
    throw Error(text("the state does not fit: ", problems[0], problems.size() > 1 ? " and more" : ""), problems);
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
  const int64_t skipped = given.numbers.contains(kSkipped) ? count_of(kSkipped, given.numbers.at(kSkipped)) : 0;
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
