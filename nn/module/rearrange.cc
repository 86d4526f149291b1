// Renaming and reordering what a container holds.
#include <unordered_set>

#include "nn/module/module_state.h"

namespace weft::nn {
namespace {

using State = Module::State;
using detail::NamedList;
using detail::Renamed;

/// The paths and the names of parameters that change with the name of what holds them.
class Renaming {
 public:
  /// For a module and all below it, whose path becomes `path`.
  void add(State& root, const std::string& path) {
    root.walk(
        [&](const std::string& to, State& below) {
          for (const NamedTensor& parameter : below.parameters)
            add(parameter.tensor, below.path + parameter.name, to + parameter.name);
          paths_.emplace_back(&below, to);
        },
        path);
  }
  /// A parameter that another module has too keeps the name that it has from there.
  void add(const Tensor& parameter, const std::string& from, const std::string& to) {
    if (!parameter.is_leaf() || parameter.name() != from) return;
    names_.emplace_back(parameter, to);
    if (detail::may_be_registered_more_than(1, parameter)) shared_.insert(&internal::body(parameter));
  }
  void swap_paths() noexcept {
    for (auto& [state, path] : paths_) state->path.swap(path);
  }
  /// Names the parameters as `holder` and all that holds it do after the change: by the first of their names.
  void rename_parameters(State& holder) {
    State* root = &holder;
    while (root->parent != nullptr) root = root->parent;
    if (!shared_.empty())
      root->each([&](const State& below) {
        for (const NamedTensor& parameter : below.parameters)
          if (shared_.erase(&internal::body(parameter.tensor)) != 0)
            names_.emplace_back(parameter.tensor, below.path + parameter.name);
      });
    for (auto& [parameter, name] : names_) parameter.set_name(name);
  }

 private:
  std::vector<std::pair<State*, std::string>> paths_;
  std::vector<std::pair<Tensor, std::string>> names_;  // of two names of one, the later is right
  std::unordered_set<const internal::TensorBody*> shared_;
};

/// Puts `items`, which `holder` owns, and the paths of `renaming` in place; takes both back if naming parameters fails.
template <class Item> void commit(State& holder, NamedList<Item>& items, NamedList<Item>& changed, Renaming& renaming) {
  const auto exchange = [&]() noexcept {
    std::swap(items, changed);
    renaming.swap_paths();
  };
  exchange();
  try {
    renaming.rename_parameters(holder);
  } catch (...) {
    exchange();
    throw;
  }
}

/// `items` without those that `list` names.
template <class Item> NamedList<Item> others(const NamedList<Item>& items, const std::vector<Renamed>& list) {
  std::vector<bool> is_listed(items.size() + 1);
  for (const Renamed& each : list) is_listed[items.find(each.from)] = true;
  NamedList<Item> out;
  for (size_t at = 0; at < items.size(); ++at)
    if (!is_listed[at]) out.push_back(items[at]);
  return out;
}

void release(State& child) noexcept {
  child.adopted = false;
  child.parent = nullptr;
}

[[noreturn]] void throw_taken(const std::string& name, const std::string& type) {
  throw Error(text("the name `", name, "` is taken in this ", type));
}

}  // namespace

void Module::rearrange_modules(const std::vector<Renamed>& list, const std::string& added) try {
  State& self = state();
  NamedList<State::Child> children = others(self.children, list);
  std::vector<IntrusivePtr<State>> released;
  Renaming renaming;
  for (const auto& [from, to] : list) {
    const size_t at = self.children.find(from);
    if (at == self.children.size()) continue;
    const IntrusivePtr<State>& child = self.children[at].state;
    if (from != to) renaming.add(*child, to.empty() ? "" : self.path + to + ".");
    if (to.empty()) {
      released.push_back(child);
      continue;
    }
    if (children.contains(to) || self.parameters.contains(to) || self.buffers.contains(to))
      throw_taken(to, type_name());
    children.push_back({to, child});
  }
  commit(self, self.children, children, renaming);
  for (const IntrusivePtr<State>& child : released) release(*child);
} catch (...) {
  if (added.empty()) throw;
  const size_t at = state().children.find(added);
  release(*state().children[at].state);
  state().children.erase(at);
  throw;
}

void Module::rearrange_parameters(const std::vector<Renamed>& list, const std::string& added) try {
  State& self = state();
  NamedList<NamedTensor> parameters = others(self.parameters, list);
  Renaming renaming;
  for (const auto& [from, to] : list) {
    const size_t at = self.parameters.find(from);
    if (at == self.parameters.size()) continue;
    const Tensor& parameter = self.parameters[at].tensor;
    if (from != to) renaming.add(parameter, self.path + from, to.empty() ? "" : self.path + to);
    if (to.empty()) continue;
    if (parameters.contains(to) || self.children.contains(to) || self.buffers.contains(to))
      throw_taken(to, type_name());
    parameters.push_back({to, parameter});
  }
  commit(self, self.parameters, parameters, renaming);
} catch (...) {
  const size_t at = state().parameters.find(added);
  if (at != state().parameters.size()) state().parameters.erase(at);  // an undefined one is not there
  throw;
}

}  // namespace weft::nn
