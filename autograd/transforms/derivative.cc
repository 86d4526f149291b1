#include "autograd/transforms/derivative.h"

#include <memory>

#include "autograd/grad_mode.h"
#include "autograd/transforms/recorded.h"
#include "tensor/functions/fill.h"

namespace weft::autograd {

void check_directions(const char* name, const Tensors& along, const Tensors& v, const char* what, bool may_be_absent) {
  ErrorFrame frame(name, std::span<const Tensor>(along));
  if (v.size() != along.size()) throw ShapeError(text(v.size(), " directions for ", along.size(), " ", what, "s"));
  for (size_t i = 0; i < v.size(); ++i) {
    if (!v[i].defined()) {
      if (may_be_absent && along[i].numel() == 1) continue;
      if (may_be_absent)
        throw ShapeError(
            text(what, " ", i, " has shape ", along[i].shape(), "; without a direction it must be one number"));
      throw ShapeError(text("the direction of ", what, " ", i, " of shape ", along[i].shape(), " is undefined"));
    }
    if (v[i].shape() != along[i].shape())
      throw ShapeError(
          text("the direction of ", what, " ", i, " has shape ", v[i].shape(), ", not ", along[i].shape()));
  }
}

OutputsAndGradients vjp_of(const char* name, const ManyToMany& f, const Tensors& x, const Tensors& v,
                           const std::vector<Tensor*>& aux) {
  const Recorded call(name, f, x);
  const bool aux_keeps_graph = call.finish_aux(aux);
  const Tensors seeds = v.empty() ? Tensors(call.outputs().size()) : v;
  check_directions(name, call.outputs(), seeds, "output", true);
  const bool differentiable = call.is_differentiable(seeds);
  const EnableGrad recording;
  const Tensors gradients = call.gradients(seeds, call.must_record(differentiable), aux_keeps_graph);
  return {call.finished(call.outputs(), differentiable), call.finished(gradients, differentiable)};
}

void check_one_number(const Tensor& value) {
  if (!value.defined() || value.numel() == 1) return;
  ErrorFrame frame("value_and_grad");
  throw ShapeError(text("the function returned shape ", value.shape(), "; it must return one number"));
}

ValueAndGradients value_and_grad_of(const std::function<Tensor(const StateDict&)>& f, const StateDict& parameters,
                                    const std::vector<Tensor*>& aux) {
  Tensors differentiated;
  for (const auto& [name, tensor] : parameters)
    if (tensor.defined() && is_floating(tensor.dtype())) differentiated.push_back(tensor);
  const auto of_list = [&](const Tensors& x) -> Tensors {
    StateDict replaced = parameters;
    size_t i = 0;
    for (auto& [name, tensor] : replaced)
      if (tensor.defined() && is_floating(tensor.dtype())) tensor = x[i++];
    const Tensor value = f(replaced);
    check_one_number(value);
    return {value};
  };
  OutputsAndGradients all = vjp_of("value_and_grad", of_list, differentiated, {}, aux);
  ValueAndGradients out{std::move(all.outputs[0]), {}};
  size_t i = 0;
  for (const auto& [name, tensor] : parameters)
    if (tensor.defined() && is_floating(tensor.dtype())) out.gradients[name] = std::move(all.gradients[i++]);
  return out;
}

namespace {

/// w^T J as a function of w, recorded: its gradient with respect to w along v is J v.
struct Pullback {
  Tensors outputs;
  Tensors weights;  // w of each output: their values do not matter, as w^T J is linear in them
  Tensors pulled;   // w^T J, for each argument

  explicit Pullback(const Recorded& call) : outputs(call.outputs()) {
    for (const Tensor& y : outputs)
      weights.push_back(is_floating(y.dtype()) ? proxy_leaf(zeros_like(y.detach())) : Tensor());
    pulled = call.gradients(weights, true);
  }

  Tensors along(const Tensors& v, bool create_graph, bool retain_graph) const {
    Tensors wanted, tangents;
    for (const Tensor& w : weights)
      if (w.defined()) wanted.push_back(w);
    const Tensors pushed = gradients_or_zeros(pulled, wanted, v, create_graph, retain_graph);
    size_t next = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      tangents.push_back(weights[i].defined() ? pushed[next++] : zeros_like(outputs[i]));
    return tangents;
  }
};

}  // namespace

OutputsAndTangents jvp_of(const ManyToMany& f, const Tensors& x, const Tensors& v) {
  check_directions("jvp", x, v, "argument", false);
  const Recorded call("jvp", f, x);
  const bool differentiable = call.is_differentiable(v);
  const EnableGrad recording;
  const Tensors tangents = Pullback(call).along(v, call.must_record(differentiable), false);
  return {call.finished(call.outputs(), differentiable), call.finished(tangents, differentiable)};
}

std::pair<Tensors, ManyToMany> linearize_of(const ManyToMany& f, const Tensors& x) {
  const Recorded call("linearize", f, x);
  const bool leads_out = call.is_differentiable({}), is_sampled = call.must_record(false);
  const EnableGrad recording;
  const auto pullback = std::make_shared<const Pullback>(call);
  const auto jvp = [pullback, leads_out, is_sampled](const Tensors& v) -> Tensors {
    check_directions("jvp of linearize", pullback->pulled, v, "argument", false);
    const bool is_recorded = is_recording();
    bool differentiable = leads_out;
    for (const Tensor& one : v) differentiable = differentiable || one.requires_grad();
    differentiable = differentiable && is_recorded;
    const EnableGrad record_again;
    const Tensors tangents = pullback->along(v, differentiable || (is_recorded && is_sampled), true);
    return handed_out(tangents, differentiable, is_recorded);
  };
  return {call.finished(call.outputs(), leads_out), jvp};
}

}  // namespace weft::autograd
