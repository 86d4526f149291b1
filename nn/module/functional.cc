#include "nn/module/functional.h"

#include <map>
#include <utility>

#include "autograd/transforms/recorded.h"
#include "nn/module/module_state.h"
#include "tensor/batching/vmap.h"
#include "tensor/dispatch/in_place.h"

namespace weft::nn {
namespace {

bool are_one(const Tensor& a, const Tensor& b) {
  return a.is_same(b) || (a.shares_storage(b) && a.layout() == b.layout());
}

}  // namespace

ReplacedState::ReplacedState(const Module& module, const StateDict& state) {
  ErrorFrame frame("functional_call");
  std::map<std::string, Tensor> own;
  module.state().walk([&](const std::string& prefix, const Module::State& below) {
    for (const NamedTensor& parameter : below.parameters) own[prefix + parameter.name] = parameter.tensor;
    for (const auto& buffer : below.buffers) own[prefix + buffer.name] = buffer.tensor;
  });
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
    pairs_.push_back({target, dispatch::before_write(given)});
  }
  exchange();
}

ReplacedState::~ReplacedState() { exchange(); }

void ReplacedState::exchange() noexcept {
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

Tensor ReplacedState::kept(const Tensor& x) const {
  for (const Pair& pair : pairs_)
    if (x.is_same(pair.own)) return dispatch::before_write(x);
  return x;
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
    if (value.numel() != 1) {
      ErrorFrame frame("per_sample_grad");
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
