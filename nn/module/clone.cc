#include "nn/module/clone.h"

#include <map>

#include "autograd/grad_mode.h"
#include "nn/module/module_state.h"

namespace weft::nn {
namespace {

using State = Module::State;

struct NamedState {
  std::string name;  // of the module, below the root; a dot behind it
  State* state;
};

std::vector<NamedState> states_of(State& root) {
  std::vector<NamedState> out;
  root.walk([&](const std::string& prefix, State& state) { out.push_back({prefix, &state}); });
  return out;
}

thread_local constinit bool is_overwritten = false;

std::string shown(const State& state) { return text(state.type, "(", state.options, ")"); }

/// What distinguishes the two, as `Linear(...) instead of Linear(...)`; empty where nothing does.
std::string difference(const State& from, const State& to) {
  if (shown(from) != shown(to)) return text(shown(to), " instead of ", shown(from));
  const auto tensors = [](const State& state) {
    std::string out;
    for (const NamedTensor& p : state.parameters) out += text(" ", p.name, p.tensor.shape());
    for (const State::Buffer& b : state.buffers) out += text(" ", b.name, b.tensor.shape());
    return out.empty() ? std::string(" no tensors") : out;
  };
  const std::string had = tensors(from), has = tensors(to);
  return had == has ? std::string() : text(from.type, " with", has, " instead of", had);
}

void check_structure(const std::vector<NamedState>& from, const std::vector<NamedState>& to) {
  for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
    const std::string& name = from[i].name;
    if (to[i].name != name) throw Error(text("the new module has `", to[i].name, "` in place of `", name, "`"));
    const std::string what = difference(*from[i].state, *to[i].state);
    const std::string where = name.empty() ? "the new module" : text("`", name.substr(0, name.size() - 1), "`");
    if (!what.empty()) throw Error(text(where, " is ", what));
  }
  if (from.size() != to.size())
    throw Error(text("the new module has ", to.size() - 1, " modules in it instead of ", from.size() - 1));
}

/// Copies tensors, each once: a parameter that several modules share is shared in the same places.
class TensorCopies {
 public:
  void copy(const std::string& name, const Tensor& from, const Tensor& to) {
    const auto [known, is_new] = copies_.try_emplace(&internal::body(from), to);
    const auto [source, is_own] = sources_.try_emplace(&internal::body(to), &internal::body(from));
    if (!known->second.is_same(to) || source->second != &internal::body(from))
      throw Error(text("`", name, "` is shared with another parameter in one of the two modules only"));
    if (!is_new || !is_own) return;
    detail::take_memory(to, from.detach().clone());
    if (internal::body(to).history) Tensor(to).requires_grad_(from.requires_grad());
  }

 private:
  std::map<const void*, Tensor> copies_;
  std::map<const void*, const void*> sources_;
};

}  // namespace

detail::OverwrittenScope::OverwrittenScope() : state_(random_state()), outer_(is_overwritten) { is_overwritten = true; }

detail::OverwrittenScope::~OverwrittenScope() {
  is_overwritten = outer_;
  set_random_state(state_);
}

bool detail::OverwrittenScope::is_open() { return is_overwritten; }

void detail::copy_module_state(const Module& from, const Module& to) {
  ErrorFrame frame("clone");
  NoGrad guard;
  (void)from.type_name(), (void)to.type_name();  // the classes of the roots
  const std::vector<NamedState> sources = states_of(from.state()), targets = states_of(to.state());
  check_structure(sources, targets);
  TensorCopies copies;
  for (size_t i = 0; i < sources.size(); ++i) {
    const State& source = *sources[i].state;
    State& target = *targets[i].state;
    target.training = source.training;
    const auto copy = [&](const NamedTensor& a, const Tensor& b) {
      copies.copy(sources[i].name + a.name, a.tensor, b);
    };
    for (size_t p = 0; p < source.parameters.size(); ++p) copy(source.parameters[p], target.parameters[p].tensor);
    for (size_t b = 0; b < source.buffers.size(); ++b)
      copy({source.buffers[b].name, source.buffers[b].tensor}, target.buffers[b].tensor);
  }
}

}  // namespace weft::nn
