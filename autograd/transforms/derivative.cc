#include "autograd/transforms/derivative.h"

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
      throw ShapeError(text("the direction of ", what, " ", i, " of shape ", along[i].shape(), " is undefined"));
    }
    if (v[i].shape() != along[i].shape())
      throw ShapeError(
          text("the direction of ", what, " ", i, " has shape ", v[i].shape(), ", not ", along[i].shape()));
  }
}

OutputsAndGradients vjp_of(const char* name, const ManyToMany& f, const Tensors& x, const Tensors& v) {
  const Recorded call(name, f, x);
  const Tensors seeds = v.empty() ? Tensors(call.outputs().size()) : v;
  check_directions(name, call.outputs(), seeds, "output", true);
  const bool differentiable = call.is_differentiable(seeds);
  const EnableGrad recording;
  const Tensors gradients = call.gradients(seeds, call.must_record(differentiable));
  return {call.finished(call.outputs(), differentiable), call.finished(gradients, differentiable)};
}

OutputsAndTangents jvp_of(const ManyToMany& f, const Tensors& x, const Tensors& v) {
  check_directions("jvp", x, v, "argument", false);
  const Recorded call("jvp", f, x);
  const bool differentiable = call.is_differentiable(v);
  const EnableGrad recording;
  Tensors weights;  // w: their values do not matter, as w^T J is linear in them
  for (const Tensor& y : call.outputs())
    weights.push_back(is_floating(y.dtype()) ? proxy_leaf(zeros_like(y.detach())) : Tensor());
  Tensors seeds = weights, tangents;
  const Tensors pulled = call.gradients(seeds, true);
  Tensors wanted;
  for (const Tensor& w : weights)
    if (w.defined()) wanted.push_back(w);
  const Tensors pushed = gradients_or_zeros(pulled, wanted, v, call.must_record(differentiable), false);
  size_t next = 0;
  for (size_t i = 0; i < weights.size(); ++i)
    tangents.push_back(weights[i].defined() ? pushed[next++] : zeros_like(call.outputs()[i]));
  return {call.finished(call.outputs(), differentiable), call.finished(tangents, differentiable)};
}

}  // namespace weft::autograd
