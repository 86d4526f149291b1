#include "nn/module/functional.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "autograd/run_again.h"
#include "autograd/transforms/recorded.h"
#include "nn/module/module_state.h"
#include "tensor/batching/vmap.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/cat.h"

namespace weft::nn {
namespace {

bool are_one(const Tensor& a, const Tensor& b) {
  return a.is_same(b) || (a.shares_storage(b) && a.layout() == b.layout());
}

}  // namespace

/// While alive, the two tensors of each pair have exchanged their bodies' contents.
class ReplacedState::Exchange {
 public:
  explicit Exchange(std::vector<Pair> pairs) : pairs_(std::move(pairs)) { swap(); }
  ~Exchange() { swap(); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  bool replaces(const Tensor& x) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const Pair& pair) { return x.is_same(pair.own); });
  }

 private:
  void swap() noexcept {
    for (const Pair& pair : pairs_) {
      internal::TensorBody &a = internal::body(pair.own), &b = internal::body(pair.given);
      std::swap(a.storage, b.storage);
      a.view = std::exchange(b.view, std::move(a.view));  // g++ 12 warns of std::swap
      std::swap(a.dtype, b.dtype);
      std::swap(a.output_index, b.output_index);
      std::swap(a.version, b.version);
      std::swap(a.history, b.history);
      std::swap(a.cut, b.cut);
    }
  }
  std::vector<Pair> pairs_;
};

/// The same exchange for a checkpointed function that runs again.
class ReplacedState::Replacement final : public autograd::ActiveState {
 public:
  explicit Replacement(const std::vector<Pair>& pairs) : pairs_(copies_of(pairs)) {}
  std::shared_ptr<void> enter() const override { return std::make_shared<Exchange>(copies_of(pairs_)); }

 private:
  static std::vector<Pair> copies_of(const std::vector<Pair>& pairs) {
    std::vector<Pair> out;
    for (const Pair& pair : pairs) out.push_back({pair.own, dispatch::before_write(pair.given)});
    return out;
  }
  std::vector<Pair> pairs_;
};

ReplacedState::ReplacedState(const Module& module, const StateDict& state, const std::string& computed) {
  ErrorFrame frame("functional_call");
  std::map<std::string, Tensor> own;
  module.state().walk([&](const std::string& prefix, const Module::State& below) {
    for (const NamedTensor& parameter : below.parameters) own[prefix + parameter.name] = parameter.tensor;
    for (const auto& buffer : below.buffers) {
      const std::string name = prefix + buffer.name;
      if (buffer.computed && name != computed && state.contains(name))
        throw Error(text("`", name, "` is computed in each call; replace what it is computed from, ", prefix,
                         "parametrizations.", buffer.name, ".*"));
      own[name] = buffer.tensor;
    }
  });
  std::vector<Pair> pairs;
  std::map<const void*, std::pair<std::string, Tensor>> taken;
  for (const auto& [name, given] : state) {
    const auto found = own.find(name);
    if (found == own.end()) throw Error(text(module.type_name(), " has no parameter or buffer `", name, "`"));
    const Tensor& target = found->second;
    if (!given.defined()) throw Error(text("the tensor for `", name, "` is undefined"));
    if (given.shape() != target.shape())
      throw ShapeError(text("`", name, "` has shape ", given.shape(), " instead of ", target.shape()));
    const auto [place, fresh] = taken.try_emplace(&internal::body(target), name, given);
    if (!fresh) {
      if (are_one(place->second.second, given)) continue;
      throw Error(text("`", place->second.first, "` and `", name, "` are one parameter, but two tensors are given"));
    }
    pairs.push_back({target, dispatch::before_write(given)});
  }
  active_ = Owned(new autograd::ActiveScope(std::make_shared<Replacement>(pairs)));
  exchange_ = Owned(new Exchange(std::move(pairs)));
}

ReplacedState::~ReplacedState() = default;

Tensor ReplacedState::kept(const Tensor& x) const { return exchange_->replaces(x) ? dispatch::before_write(x) : x; }

StateDict stack_states(const std::vector<StateDict>& states) {
  ErrorFrame frame("stack_states");
  if (states.empty()) throw Error("no states to stack");
  for (const StateDict& state : states)
    if (state.size() != states[0].size())
      throw Error(text("one of the states has ", state.size(), " names, the first has ", states[0].size()));
  StateDict out;
  for (const auto& [name, first] : states[0]) {
    std::vector<Tensor> all;
    for (const StateDict& state : states) {
      if (!state.contains(name)) throw Error(text("one of the states has no `", name, "`"));
      all.push_back(state.at(name));
    }
    out[name] = stack(all);
  }
  return out;
}

StateDict detail::per_sample_grad(const Module& module,
                                  const std::function<Tensor(const StateDict&, const std::vector<Tensor>&)>& loss,
                                  const std::vector<Tensor>& batch) {
  std::vector<NamedTensor> wanted;
  for (const NamedTensor& parameter : module.named_parameters())
    if (parameter.tensor.requires_grad()) wanted.push_back(parameter);
  const auto gradients_of_row = [&](const std::vector<Tensor>& row) -> std::vector<Tensor> {
    StateDict parameters;
    std::vector<Tensor> leaves;
    for (const NamedTensor& parameter : wanted)
      leaves.push_back(parameters[parameter.name] = autograd::proxy_leaf(parameter.tensor));
    const Tensor value = loss(parameters, row);
    if (!value.defined() || value.numel() != 1) {
      ErrorFrame frame("per_sample_grad");
      if (!value.defined()) throw Error("the loss of one sample is undefined");
      throw ShapeError(text("the loss of one sample has shape ", value.shape(), "; it must be one number"));
    }
    return autograd::gradients_or_zeros({value}, leaves, {}, false, false);
  };
  const std::vector<Tensor> gradients = vmap(gradients_of_row)(batch);
  StateDict out;
  for (size_t i = 0; i < wanted.size(); ++i) out[wanted[i].name] = gradients[i].detach();
  return out;
}

}  // namespace weft::nn
