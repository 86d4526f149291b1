// Saving and restoring what an optimizer has built up. Keys: tensors `first.conv.weight.exp_avg`, numbers
// `first.conv.weight.step`, `group.0.lr`, `group.0.nesterov` (switches are saved as PyTorch's param_groups are), `steps`.
#include "autograd/grad_mode.h"
#include "optim/optimizer.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"

namespace weft::optim {
namespace {
std::string group_key(size_t group, std::string_view name) { return text("group.", group, ".", name); }
}  // namespace

State Optimizer::state_dict() const {
  State out;
  out.numbers["steps"] = static_cast<double>(steps_);
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (const Number& number : const_cast<Optimizer*>(this)->numbers(i))
      out.numbers[group_key(i, number.name)] = number.get();
    for (const Slot& slot : groups_[i]) {
      out.numbers[slot.key + ".step"] = static_cast<double>(slot.steps);
      for (size_t k = 0; k < slot.states.size(); ++k)
        if (slot.states[k].defined()) out.tensors[slot.key + "." + state_names_[k]] = slot.states[k];
    }
  }
  return out;
}

void Optimizer::load_state_dict(const State& given) {
  Frame frame(name_);
  NoGrad guard;
  std::vector<std::string> problems;
  size_t used = 0;
  const auto check_number = [&](const std::string& key) {
    if (!given.numbers.contains(key)) problems.push_back("missing " + key);
  };
  check_number("steps");
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (const Number& number : numbers(i)) check_number(group_key(i, number.name));
    for (const Slot& slot : groups_[i]) {
      check_number(slot.key + ".step");
      for (const char* name : state_names_) {
        const auto found = given.tensors.find(slot.key + "." + name);
        if (found == given.tensors.end()) continue;
        ++used;
        const Shape& shape = found->second.shape();
        if (shape != slot.parameter.shape())
          problems.push_back(text(found->first, " has shape ", shape, " instead of ", slot.parameter.shape()));
      }
    }
  }
  if (used != given.tensors.size())
    problems.push_back(text(given.tensors.size() - used, " tensors of other parameters"));
  if (!problems.empty())
    throw Error(text("the state does not fit: ", problems[0], problems.size() > 1 ? " and more" : ""), problems);

  steps_ = static_cast<int64_t>(given.numbers.at("steps"));
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (const Number& number : numbers(i)) number.put(given.numbers.at(group_key(i, number.name)));
    for (Slot& slot : groups_[i]) {
      slot.steps = static_cast<int64_t>(given.numbers.at(slot.key + ".step"));
      for (size_t k = 0; k < slot.states.size(); ++k) {
        const auto found = given.tensors.find(slot.key + "." + state_names_[k]);
        slot.states[k] = found == given.tensors.end() ? Tensor() : zeros_like(slot.parameter).copy_(found->second);
      }
    }
  }
}

}  // namespace weft::optim
