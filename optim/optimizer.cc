#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <unordered_set>

#include "autograd/grad_mode.h"
#include "tensor/autocast.h"
#include "tensor/core/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/profiler.h"
#include "tensor/runtime/log.h"

namespace weft::optim {

template <class F> void Optimizer::each_slot(const F& visit) {
  for (std::vector<Slot>& group : groups_)
    for (Slot& slot : group) visit(slot);
}
template <class F> void Optimizer::each_slot(const F& visit) const {
  for (const std::vector<Slot>& group : groups_)
    for (const Slot& slot : group) visit(slot);
}

double detail::largest(const Tensor& x) {
  return x.numel() == 0 ? 0 : norm(x, std::numeric_limits<double>::infinity()).item<double>();
}

Optimizer& OptimizerHandle::get(const char* who) const {
  if (!self_ || self_->optimizer == nullptr)
    throw Error(text(who, ": its optimizer is gone; the optimizer must live as long as it is used"));
  return *self_->optimizer;
}

struct Optimizer::Known {
  std::unordered_set<const internal::TensorBody*> bodies;
  std::unordered_set<std::string> keys;
};

Optimizer::Optimizer(const char* name, std::vector<const char*> states, std::vector<const char*> numbers)
    : name_(name), state_names_(std::move(states)), number_names_(std::move(numbers)), known_(new Known) {}
Optimizer::~Optimizer() { self_->optimizer = nullptr; }

// ---- parameters ----

void Optimizer::add_slots(const std::vector<Tensor>& parameters) {
  ErrorFrame frame(name_);
  if (!sharing_.mine.empty()) throw Error("its work is shared: add groups first, then share() or distributed::shard()");
  std::vector<Slot> group;
  size_t number = known_->bodies.size();
  Known added;
  const auto is_taken = [&](const std::string& key) { return known_->keys.contains(key) || added.keys.contains(key); };
  for (const Tensor& parameter : parameters) {
    if (!parameter.defined()) throw Error("a parameter is undefined");
    if (!internal::body(parameter).history || !parameter.is_leaf())
      throw GradientError(text("a tensor of shape ", parameter.shape(), " is not a parameter: see parameter()"));
    check_parameter(parameter);
    Slot slot;
    slot.parameter = parameter;
    slot.key = parameter.name();
    slot.states.resize(state_names_.size());
    slot.numbers.resize(number_names_.size());
    const auto* const body = &internal::body(parameter);
    if (known_->bodies.contains(body) || !added.bodies.insert(body).second)
      throw Error(text("the parameter `", parameter.name(), "` is given twice"));
    if (slot.key.empty() || slot.key == "leaf" || is_taken(slot.key)) slot.key = std::to_string(number);
    while (is_taken(slot.key)) slot.key.insert(slot.key.begin(), '_');  // a name may be a number, as in a ParameterList
    added.keys.insert(slot.key);
    ++number;
    group.push_back(std::move(slot));
  }
  // Before the first change, so that merge() needs no memory.
  known_->bodies.reserve(known_->bodies.size() + added.bodies.size());
  known_->keys.reserve(known_->keys.size() + added.keys.size());
  groups_.push_back(std::move(group));
  known_->bodies.merge(added.bodies), known_->keys.merge(added.keys);
}

void Optimizer::check_parameters() const {
  ErrorFrame frame(name_);
  if (parameters().empty())
    throw Error("no parameters: was register_module() or register_parameter() forgotten in the model?");
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> out;
  each_slot([&](const Slot& slot) { out.push_back(slot.parameter); });
  return out;
}

void Optimizer::zero_grad() {
  each_slot([](Slot& slot) { slot.parameter.zero_grad(); });
}

// ---- stepping ----

void Optimizer::step() {
  NoGrad guard;
  const RecordFunction section(is_observed() ? text(name_, ".step") : std::string());
  if (skips_nonfinite_ && !is_finite()) return count_skipped();
  update_all();
}

Tensor Optimizer::step(const std::function<Tensor()>& closure) {
  if (!closure) throw Error(text(name_, "::step(): the closure is empty"));
  Tensor loss;
  {
    const EnableGrad guard;
    loss = closure();
  }
  step();
  return loss;
}

void Optimizer::update_all() {
  ErrorFrame frame(name_);
  NoGrad guard;
  const Autocast exact = Autocast::off();
  reserve_states();
  // A generator per parameter: when processes divide the work, none draws more than another.
  std::vector<Generator> random;
  if (rounds_at_random()) random = default_generator().split(static_cast<int64_t>(parameters().size()));
  size_t number = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (Slot& slot : groups_[i]) {
      Generator* const generator = random.empty() ? nullptr : &random[number];
      const bool mine = is_mine(number++);
      const Tensor gradient = slot.parameter.grad();
      if (!gradient.defined()) continue;
      ++slot.steps;
      if (!mine) continue;
      try {
        update_slot(i, slot, gradient, generator);
      } catch (...) {
        // A parameter has no states before its first update: some optimizers treat the first gradient differently.
        if (--slot.steps == 0) std::fill(slot.states.begin(), slot.states.end(), Tensor());
        throw;
      }
    }
  }
  if (sharing_.after_step) sharing_.after_step();
  ++attempts_;
  if (++steps_ == 1) warn_unused();
}

bool Optimizer::rounds_at_random() const {
  for (size_t group = 0; group < groups_.size(); ++group)
    if (const HalfPrecision half = half_precision(group); half.stochastic_rounding || half.bf16_states) return true;
  return false;
}

void Optimizer::share(Sharing sharing) {
  if (const size_t count = parameters().size(); sharing.mine.size() != count)
    throw Error(text(name_, ": the sharing is of ", sharing.mine.size(), " parameters, the optimizer has ", count));
  sharing_ = std::move(sharing);
  drop_shared_states();
}

void Optimizer::drop_shared_states() {
  size_t number = 0;
  each_slot([&](Slot& slot) {
    if (is_mine(number++)) return;
    for (Tensor& state : slot.states) state = Tensor();
    slot.master = Tensor();
  });
}

bool Optimizer::is_finite() const {
  bool finite = true;
  each_slot([&](const Slot& slot) {
    const Tensor gradient = slot.parameter.grad();
    if (finite && gradient.defined()) finite = std::isfinite(detail::largest(gradient));
  });
  return finite;
}

std::vector<std::string> Optimizer::unused() const {
  std::vector<std::string> out;
  each_slot([&](const Slot& slot) {
    if (slot.steps == 0 && slot.parameter.requires_grad()) out.push_back(slot.key);
  });
  return out;
}

void Optimizer::warn_unused() const {
  constexpr size_t kShown = 5;
  const std::vector<std::string> names = unused();
  if (names.empty()) return;
  std::string line = text(name_, ": ", names.size(), " parameters received no gradient in the first step: ");
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) line += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kShown) line += ", ...";
  log_warn(line);
}

Shape Optimizer::state_shape(const Tensor& parameter, size_t) const { return parameter.shape(); }

// ---- numbers ----

double Optimizer::Number::get() const {
  if (count != nullptr) return static_cast<double>(*count);
  return flag != nullptr ? static_cast<double>(*flag) : *value;
}

void Optimizer::Number::put(double given) const {
  if (count != nullptr)
    *count = static_cast<int64_t>(given);
  else if (flag != nullptr)
    *flag = given != 0;
  else
    *value = given;
}

void Optimizer::Number::check(double given) const {
  if (flag != nullptr && given != 0 && given != 1) throw Error(text(name, " is a switch, 0 or 1, not ", given));
  if (std::isnan(given)) throw Error(text(name, " must be a number, not ", given));
  if (count != nullptr && !(std::abs(given) <= 1e15 && given == std::floor(given)))
    throw Error(text(name, " must be a whole number, not ", given));
  if (range == Range::not_negative && given < 0) throw Error(text(name, " must be 0 or more, not ", given));
  if (range == Range::fraction && (given < 0 || given >= 1)) throw Error(text(name, " must be in [0, 1), not ", given));
}

std::optional<Optimizer::Number> Optimizer::find(std::string_view name, size_t group) const {
  if (group >= groups_.size())
    throw IndexError(text(name_, ": group ", group, " is out of range for ", groups_.size()));
  for (const Number& number : const_cast<Optimizer*>(this)->numbers(group))
    if (number.name == name) return number;
  return std::nullopt;
}

bool Optimizer::has(std::string_view name) const { return find(name, 0).has_value(); }

double Optimizer::get(std::string_view name, size_t group) const {
  const std::optional<Number> number = find(name, group);
  if (!number) throw Error(text(name_, " has no `", name, "`"));
  return number->get();
}

void Optimizer::set(std::string_view name, double value, size_t group) {
  const double before = get(name, group);
  const Number number = *find(name, group);
  ErrorFrame frame(name_);
  number.check(value);
  number.put(value);
  const char* why = conflict(group);
  if (why == nullptr) return;
  number.put(before);
  throw Error(text(name, " cannot become ", value, ": ", why));
}

void Optimizer::set(std::string_view name, double value) {
  std::vector<double> before;
  try {
    for (size_t group = 0; group < groups_.size(); ++group) {
      const bool is_last = group + 1 == groups_.size();  // a group that refuses the value keeps its own
      if (!is_last) before.push_back(get(name, group));
      set(name, value, group);
    }
  } catch (...) {
    for (size_t group = 0; group < before.size(); ++group) find(name, group)->put(before[group]);
    throw;
  }
}

std::string Optimizer::to_string() const {
  std::string out = text(name_, "(");
  for (size_t group = 0; group < groups_.size(); ++group) {
    std::string fields;
    for (const Number& number : const_cast<Optimizer*>(this)->numbers(group)) {
      if (number.range == Range::option && number.get() == 0) continue;
      if (!fields.empty()) fields += ", ";
      fields += number.flag != nullptr ? text(number.name, "=", *number.flag) : text(number.name, "=", number.get());
    }
    out += groups_.size() == 1 ? fields : text(group == 0 ? "[" : ", [", fields, "]");
  }
  return out + ")";
}

std::ostream& operator<<(std::ostream& out, const Optimizer& optimizer) { return out << optimizer.to_string(); }

}  // namespace weft::optim
