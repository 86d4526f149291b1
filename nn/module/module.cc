#include "nn/module/module.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "autograd/function.h"
#include "autograd/leaf.h"
#include "autograd/leaf_node.h"
#include "nn/module/layer.h"
#include "nn/module/module_state.h"
#include "tensor/runtime/log.h"

namespace weft::nn {
namespace {

using Bodies = std::unordered_set<const internal::TensorBody*>;

/// `Conv2d` for weft::nn::Conv2d, `ModuleList<Conv2d>` for a list of them.
std::string class_name(const std::type_info& type) {
  const std::string name = autograd::function_detail::readable_name(type);
  std::string out;
  std::vector<size_t> starts = {0};  // in `out`, of the name and of the template arguments that are open
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, 2, "::") == 0) {
      out.erase(starts.back());
      ++i;
      continue;
    }
    if (name[i] == '>') starts.pop_back();
    out += name[i];
    if (name[i] == '<') starts.push_back(out.size());
    if (name[i] == ',') starts.back() = out.size();
  }
  return out;
}

/// The leaf of a parameter; null where an in-place op has given a frozen one another history.
autograd::Leaf* leaf_of(const Tensor& parameter) {
  return dynamic_cast<autograd::Leaf*>(internal::body(parameter).history.get());
}

/// The module below `root` that holds the parameter or buffer `name`, and its name there; null if there is none.
std::pair<const Module::State*, std::string> holder_of(const Module::State& root, const std::string& name) {
  const Module::State* at = &root;
  size_t start = 0;
  for (size_t dot = 0; (dot = name.find('.', start)) != std::string::npos; start = dot + 1) {
    const size_t child = at->children.find(name.substr(start, dot - start));
    if (child == at->children.size()) return {};
    at = at->children[child].state.get();
  }
  return {at, name.substr(start)};
}

}  // namespace

bool detail::may_be_registered_more_than(int64_t times, const Tensor& parameter) {
  const autograd::Leaf* const leaf = leaf_of(parameter);
  return leaf == nullptr || leaf->registrations() > times;
}

void detail::throw_wrong_self(const std::type_info& type, const std::type_info& self) {
  const std::string name = class_name(type);
  throw Error(text(name, " derives from Layer<", class_name(self), ">, and is none: write `struct ", name,
                   " : nn::Layer<", name, ">`"));
}

Module::Module() : state_(IntrusivePtr<State>::adopt(new State)) {}
Module::Module(IntrusivePtr<State> state) : state_(std::move(state)) {}
Module::Module(Module&&) noexcept = default;
Module::~Module() = default;

Module::State& Module::state() const {
  if (!state_) throw Error("this module was moved from");
  return *state_;
}

std::string Module::type_name() const {
  static constinit std::mutex mutex;  // threads may share a model, and this writes
  const std::lock_guard lock(mutex);
  State& self = state();
  if (self.type.empty() && typeid(*this) != typeid(Module)) self.type = class_name(typeid(*this));
  return self.type.empty() ? "Module" : self.type;
}

std::string Module::path() const {
  const std::string& prefix = state().path;
  return prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1);  // without the last dot
}

void Module::name_in(Error& error) const {
  if (!state_ || state_->path.empty()) return;
  error.add_context(text("layer ", path(), " (", type_name(), ")"));
}

void detail::warn_of_member(const Module& layer, const Module& member) {
  Module::State& state = member.state();
  if (state.adopted || state.is_checked.exchange(true, std::memory_order_relaxed)) return;
  bool matters = false;
  state.each([&](const Module::State& below) {
    matters |= below.depends_on_mode || !below.parameters.empty() || !below.buffers.empty();
  });
  if (!matters) return;
  const std::string type = member.type_name();
  log_warn(text(layer.type_name(), ": its member of type ", type,
                " is not registered: parameters(), to(), train(), eval() and saved files leave it out. Write ", type,
                " x = register_module(\"x\", ", type, "(...))"));
}

// ---- registration ----

void Module::check_name(const std::string& name) const {
  const State& self = state();
  if (name.empty()) throw Error("a parameter, buffer or module needs a name");
  if (name.find('.') != std::string::npos) throw Error(text("the name `", name, "` must not hold a '.'"));
  if (self.parameters.contains(name) || self.buffers.contains(name) || self.children.contains(name))
    throw Error(text("the name `", name, "` is taken in this ", type_name()));
}

namespace {

/// Error for a layer with a computed weight that is held as a base of it, which would use the old weight.
void check_whole(const std::string& name, bool is_slice, const std::type_info& type) {
  if (is_slice)
    throw Error(text("the module for `", name, "` is a ", class_name(type),
                     " sliced out of a layer with a computed weight; hold it as what weight_norm() gives"));
}

}  // namespace

void Module::check_child(const std::string& name, State& child) const {
  // A child without children cannot hold this module. One that holds it is among the modules above.
  const State* above = state_.get();
  while (above != nullptr && above != &child && !child.children.empty()) above = above->parent;
  if (above == &child) throw Error(text("the module for `", name, "` holds this one"));
}

void Module::adopt(const std::string& name, Module& module, const std::type_info& type, bool computes_weight) {
  ErrorFrame frame("register_module");
  check_name(name);
  State& child = module.state();
  if (child.adopted) throw Error(text("the module for `", name, "` belongs to another one already"));
  check_whole(name, child.computes_weight && !computes_weight, type);
  check_child(name, child);
  State::Child entry = {name, module.state_};
  state().children.make_room(name);
  link(name, child, type);
  state().children.push_back(std::move(entry));
}

/// Sets the parent of `child`, and the paths and parameter names below it, for its place `name` in this module.
void Module::link(const std::string& name, State& child, const std::type_info& type) {
  State& self = state();
  Bodies shared, seen;  // shared: the leaves of the child that this module may have too
  child.each([&](const State& state) {
    for (const NamedTensor& parameter : state.parameters)
      if (detail::may_be_registered_more_than(1, parameter.tensor)) shared.insert(&internal::body(parameter.tensor));
  });
  if (!shared.empty()) {
    self.each([&](State& state) {
      for (NamedTensor& parameter : state.parameters) {
        const auto* const body = &internal::body(parameter.tensor);
        // The child may have renamed a leaf that it shares.
        if (shared.contains(body) && seen.insert(body).second) parameter.tensor.set_name(state.path + parameter.name);
      }
    });
  }
  child.type = class_name(type);
  std::string full;
  child.walk(
      [&](const std::string& path, State& below) {
        below.path = path;
        for (NamedTensor& parameter : below.parameters) {
          const bool is_shared = detail::may_be_registered_more_than(1, parameter.tensor);
          if (is_shared && !seen.insert(&internal::body(parameter.tensor)).second) continue;
          parameter.tensor.set_name(full.assign(path).append(parameter.name));
        }
      },
      self.path + name + ".");
  child.adopted = true;  // after all that may fail, so that it can be tried again
  child.parent = state_.get();
}

Module& Module::operator=(Module&& other) {  // NOLINT(performance-noexcept-move-constructor)
  if (this == &other) return *this;
  take_place(other);
  if (state_ && typeid(*this) != typeid(Module)) state_->abandoned = true;
  state_ = std::move(other.state_);
  return *this;
}

/// If this module is a child of another one, `other` becomes the child in its place. (Handles that modules() returns
/// are not such children.)
void Module::take_place(Module& other) {
  if (!state_ || !other.state_ || typeid(*this) == typeid(Module)) return;
  const auto above = IntrusivePtr<State>::share(state_->parent);
  if (!above || above->abandoned) return;  // the parent itself is being assigned, member by member
  const auto place = std::find_if(above->children.begin(), above->children.end(),
                                  [&](const State::Child& child) { return child.state == state_; });
  if (place == above->children.end()) return;
  if (other.state_->adopted)
    throw Error(text("`", place->name, "` cannot become the layer `",
                     other.state_->path.substr(0, other.state_->path.size() - 1),
                     "` of a module, which would lose it; assign a new layer or its clone()"));
  check_whole(place->name, other.state_->computes_weight && !state_->computes_weight, typeid(*this));
  Module parent(above);
  parent.check_child(place->name, *other.state_);
  parent.link(place->name, *other.state_, typeid(*this));
  try {
    state_->walk([](const std::string& prefix, State& below) { below.path = prefix; });
  } catch (...) {  // it is no child yet, which would lose the parent with it
    other.state_->adopted = false;
    other.state_->parent = nullptr;
    throw;
  }
  state_->adopted = false;
  state_->parent = nullptr;
  place->state = other.state_;
}

Tensor Module::register_parameter(const std::string& name, const Tensor& value) {
  ErrorFrame frame("register_parameter");
  check_name(name);
  if (!value.defined()) return value;
  State& self = state();
  const bool has_history = bool(internal::body(value).history);
  Tensor leaf = !has_history ? value.requires_grad_(true) : value.is_leaf() ? value : weft::parameter(value);
  bool tied = false;
  if (detail::may_be_registered_more_than(0, leaf))
    for (const Tensor& known : Module(state_).parameters()) tied |= known.is_same(leaf);
  if (!tied) leaf.set_name(self.path + name);
  if (autograd::Leaf* const node = leaf_of(leaf)) node->count_registration();
  self.parameters.push_back({name, leaf});
  return leaf;
}

Tensor Module::register_buffer(const std::string& name, const Tensor& value, const BufferOptions& options) {
  ErrorFrame frame("register_buffer");
  check_name(name);
  if (!value.defined()) return value;
  state().buffers.push_back({name, value, options.saved});
  return value;
}

// ---- mode ----

void Module::train(bool on) {
  state().each([on](State& below) { below.training = on; });
}

bool Module::is_training() const { return state().training; }

// ---- what it holds ----

std::vector<NamedModule> Module::modules() const {
  (void)type_name();  // the class is known here, a handle's is not
  std::vector<NamedModule> out;
  std::vector<std::pair<std::string, IntrusivePtr<State>>> pending = {{"", state_}};
  while (!pending.empty()) {
    auto [name, next] = std::move(pending.back());
    pending.pop_back();
    for (size_t i = next->children.size(); i-- > 0;) {
      const State::Child& child = next->children[i];
      pending.emplace_back(name.empty() ? child.name : name + "." + child.name, child.state);
    }
    out.push_back({std::move(name), Module(std::move(next))});
  }
  return out;
}

std::vector<NamedTensor> Module::named_parameters() const {
  std::vector<NamedTensor> out;
  Bodies seen;
  state().walk([&](const std::string& prefix, const State& below) {
    for (const NamedTensor& parameter : below.parameters)
      if (seen.insert(&internal::body(parameter.tensor)).second)
        out.push_back({prefix + parameter.name, parameter.tensor});
  });
  return out;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> out;
  for (NamedTensor& parameter : named_parameters()) out.push_back(std::move(parameter.tensor));
  return out;
}

StateDict Module::parameter_dict() const {
  StateDict out;
  for (NamedTensor& parameter : named_parameters()) out.emplace(std::move(parameter.name), std::move(parameter.tensor));
  return out;
}

std::vector<NamedTensor> Module::buffers() const {
  std::vector<NamedTensor> out;
  Bodies seen;
  state().walk([&](const std::string& prefix, const State& below) {
    for (const State::Buffer& buffer : below.buffers)
      if (!buffer.computed && seen.insert(&internal::body(buffer.tensor)).second)
        out.push_back({prefix + buffer.name, buffer.tensor});
  });
  return out;
}

Tensor Module::get_parameter(const std::string& name) const {
  const auto [holder, own] = holder_of(state(), name);
  const size_t at = holder == nullptr ? 0 : holder->parameters.find(own);
  if (holder == nullptr || at == holder->parameters.size())
    throw Error(text(type_name(), " has no parameter `", name, "`"));
  return holder->parameters[at].tensor;
}

Tensor Module::get_buffer(const std::string& name) const {
  const auto [holder, own] = holder_of(state(), name);
  const size_t at = holder == nullptr ? 0 : holder->buffers.find(own);
  if (holder == nullptr || at == holder->buffers.size() || holder->buffers[at].computed)
    throw Error(text(type_name(), " has no buffer `", name, "`"));
  return holder->buffers[at].tensor;
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const NamedTensor& parameter : named_parameters()) count = checked_add(count, parameter.tensor.numel());
  return count;
}

// ---- changes ----

void Module::apply(const std::function<void(Module&)>& change) {
  (void)type_name();
  if (!change) throw Error("apply: the function is empty");
  const auto& children = state().children;
  for (const State::Child& child : std::vector<State::Child>(children.begin(), children.end()))
    Module(child.state).apply(change);
  change(*this);
}

void Module::zero_grad() {
  for (Tensor& parameter : parameters()) parameter.zero_grad();
}

void Module::requires_grad_(bool value) {
  for (Tensor& parameter : parameters()) parameter.requires_grad_(value);
}

void Module::mark_as_batch_norm() { state().is_batch_norm = true; }

void Module::mark_as_mode_dependent() { state().depends_on_mode = true; }

void Module::set_generator(Generator& generator) {
  state().each([&](State& below) { below.generator = &generator; });
}

Generator& Module::generator() const { return has_generator() ? *state().generator : default_generator(); }

bool Module::has_generator() const { return state().generator != nullptr; }

}  // namespace weft::nn
