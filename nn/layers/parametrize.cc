#include "nn/layers/parametrize.h"

#include <mutex>

#include "autograd/grad_mode.h"
#include "autograd/run_again.h"
#include "nn/module/module_state.h"
#include "tensor/autocast.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

/// x / max(|x|, eps).
Tensor unit(const Tensor& x, double eps) { return x / clip(norm(x), kept_above_zero(eps, x.dtype()), std::nullopt); }

}  // namespace

Tensor norm_except_axis(const Tensor& v, std::optional<int64_t> axis) {
  if (!axis) return norm(v);
  const int64_t kept = normalize_axis(*axis, v.rank());
  IntList others;
  for (int64_t i = 0; i < v.rank(); ++i)
    if (i != kept) others.push_back(i);
  return others.empty() ? abs(v) : norm(v, 2, others, keepdim);
}

Tensor weight_norm(const Tensor& v, const Tensor& g, std::optional<int64_t> axis) {
  ErrorFrame frame("weight_norm", v, g);
  if (v.rank() == 0) throw ShapeError("a weight without axes has no direction");
  const Tensor length = norm_except_axis(v, axis);
  if (g.shape() != length.shape()) throw ShapeError(text("g must be ", length.shape(), ", not ", g.shape()));
  return v * (g / length);
}

namespace detail {

Parametrization::Parametrization(Module& module, const std::string& name) {
  Module::State& state = module.state();
  const size_t found = state.parameters.find(name);
  if (found == state.parameters.size())
    throw Error(text(module.type_name(), " has no parameter `", name, "` of its own"));
  const Tensor weight = state.parameters[found].tensor;
  initial_ = weight.detach().clone();
  is_trained_ = weight.requires_grad();
  // Another layer that has it trains it further.
  if (!may_be_registered_more_than(1, weight)) weight.requires_grad_(false);
  state.buffers.push_back({.name = name, .tensor = weight, .saved = false, .computed = true});
  state.parameters.erase(found);
  state.type.clear();  // it is another class now
  state.computes_weight = true;
  const size_t all = state.children.find("parametrizations");
  const bool is_first = all == state.children.size();
  Module parts = is_first ? Module() : Module(state.children[all].state);
  if (is_first) {
    module.adopt("parametrizations", parts, typeid(Module));
    parts.state().type = "ModuleDict";
  }
  parts.adopt(name, list_, typeid(Module));
  list_.state().type = "ParametrizationList";
  parts.train(state.training);
}

Parametrization::Parametrization(Module& module, const std::string& name, const char* kind)
    : Parametrization(module, name) {
  list_.adopt("0", step_, typeid(Module));
  step_.state().type = kind;
  step_.train(module.is_training());
}

Parametrization::Parametrization(Module& module, const std::string& name, Module& step, const std::type_info& type)
    : Parametrization(module, name) {
  list_.adopt("0", step, type, true);
  step.train(module.is_training());
}

Tensor Parametrization::add_parameter(const std::string& name, const Tensor& value) {
  return list_.register_parameter(name, value).requires_grad_(is_trained_);
}

void Parametrization::add_buffers(const std::vector<NamedTensor>& buffers) {
  for (const NamedTensor& buffer : buffers) step_.register_buffer(buffer.name, buffer.tensor);
}

void check_computed(const Tensor& value, const Tensor& parameter) {
  if (!value.defined() || value.shape() != parameter.shape())
    throw ShapeError(text("the function gives ", value.defined() ? text(value.shape()) : "an undefined tensor",
                          " for a parameter of shape ", parameter.shape()));
  if (value.dtype() != parameter.dtype())
    throw DtypeError(text("the function gives ", value.dtype(), " for a parameter in ", parameter.dtype()));
}

void take_computed(const Module& from, const std::string& name, const Tensor& value, Module& plain) {
  const std::string parts = text("parametrizations.", name, ".");
  StateDict state;
  bool is_trained = false;
  for (const auto& [key, tensor] : from.clone_state())
    if (!key.starts_with(parts)) state.emplace(key, tensor);
  for (const NamedTensor& parameter : from.named_parameters()) {
    if (parameter.name.starts_with(parts))
      is_trained |= parameter.tensor.requires_grad();
    else
      plain.get_parameter(parameter.name).requires_grad_(parameter.tensor.requires_grad());
  }
  state[name] = value.detach().clone();
  plain.load_state_dict(state, {.assign = true});
  plain.get_parameter(name).requires_grad_(is_trained);
  plain.train(from.is_training());
}

struct Turns::Lock final : SharedObject {
  std::recursive_mutex mutex;
};
Turns::Turns() : lock_(IntrusivePtr<SharedObject>::adopt(new Lock)) {}
Turns::Lock& Turns::lock() const { return static_cast<Lock&>(*lock_); }
Turns::Scope::Scope(const Turns& turns) : turns_(turns) {
  if (!turns_.lock_) throw Error("this module was moved from");
  turns_.lock().mutex.lock();
}
Turns::Scope::~Scope() { turns_.lock().mutex.unlock(); }

SpectralVectors::SpectralVectors(const Tensor& weight, int64_t axis, double eps)
    : axis_(normalize_axis(axis, weight.rank())), eps_(eps) {
  if (!(eps >= 0)) throw Error(text("eps must be 0 or more, not ", eps));
  if (weight.rank() < 2) return;
  NoGrad guard;
  const Tensor w = matrix(weight);
  u_ = unit(randn({w.size(0)}, w.dtype()), eps);
  v_ = unit(randn({w.size(1)}, w.dtype()), eps);
  iterate(w, 15);
}

Tensor SpectralVectors::matrix(const Tensor& weight) const { return flatten(movedim(weight, axis_, 0), 1); }

void SpectralVectors::iterate(const Tensor& matrix, int64_t count) const {
  NoGrad guard;
  const Autocast exact = Autocast::off();
  Tensor u = u_, v = v_;
  for (int64_t i = 0; i < count; ++i) {
    u.copy_(unit(matmul(matrix, v), eps_));
    v.copy_(unit(matmul(transpose(matrix, 0, 1), u), eps_));
  }
}

// The vectors are copied: this call's backward reads them, and the next call updates them in place.
Tensor SpectralVectors::normalized(const Tensor& weight, int64_t iterations) const {
  if (!u_.defined()) return unit(weight, eps_);
  const Autocast exact = Autocast::off();
  const Tensor w = matrix(weight);
  const std::vector<Tensor> vectors = autograd::once([&]() -> std::vector<Tensor> {
    iterate(w, iterations);
    return {u_.clone(), v_.clone()};
  });
  return weight / sum(vectors[0] * matmul(w, vectors[1]));
}

std::vector<NamedTensor> SpectralVectors::buffers() const {
  if (!u_.defined()) return {};
  return {{"_u", u_}, {"_v", v_}};
}

}  // namespace detail
}  // namespace weft::nn
