#include "autograd/transforms/recorded.h"

#include <unordered_set>

#include "autograd/backward.h"
#include "autograd/grad_mode.h"
#include "autograd/node.h"
#include "tensor/functions/fill.h"
#include "tensor/ops/view.h"

namespace weft::autograd {
namespace {

/// Whether a path leads from `from` to a leaf that is none of `own`.
bool leads_elsewhere(const Tensors& from, const std::unordered_set<const Node*>& own) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> waiting;
  const auto visit = [&](const Node* node) {
    if (node != nullptr && !own.contains(node) && seen.insert(node).second) waiting.push_back(node);
  };
  for (const Tensor& x : from)
    if (x.defined() && x.requires_grad()) visit(node_of(x));
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    if (node->is_leaf()) return true;
    for (const Edge& edge : node->edges()) visit(edge.node.get());
  }
  return false;
}

/// The result of an identity op on x. It is not a view of x's base: after a write to that, the history of a view would
/// not lead through this op.
Tensor identity_of(const Tensor& x) {
  Tensor out = dispatch::apply(op::Expand{x.shape()}, x);
  internal::body(out).base = nullptr;
  return out;
}

}  // namespace

Tensor proxy_leaf(const Tensor& x) { return dispatch::alias(x).requires_grad_(true); }

Recorded::Recorded(const char* name, const ManyToMany& f, const Tensors& arguments) : recording_(is_recording()) {
  const EnableGrad recording;
  std::vector<const Node*> nodes;
  for (const Tensor& x : arguments) {
    if (!x.defined()) throw Error(text(name, ": an argument is undefined"));
    if (!is_floating(x.dtype())) {
      ErrorFrame frame(name, std::span<const Tensor>(arguments));
      throw DtypeError(text("cannot differentiate with respect to ", x.dtype(), "; it takes f32, f64, bf16 or f16"));
    }
    const bool known = recording_ && x.requires_grad();
    arguments_.push_back(known ? identity_of(x) : proxy_leaf(x));
    nodes.push_back(node_of(arguments_.back()));
    if (!known) own_.insert(nodes.back());
  }
  outputs_ = f(arguments_);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (node_of(arguments_[i]) != nodes[i])
      throw GradientError(text(name, ": the function wrote to argument ", i, "; write to a clone()"));
  for (const Tensor& y : outputs_)
    if (!y.defined()) throw Error(text(name, ": a result of the function is undefined"));
  for (const Tensors* list : {&arguments_, &outputs_})
    for (const Tensor& x : *list) sampled_ = sampled_ || x.device().kind == DeviceKind::vmap;
  leads_out_ = recording_ && leads_elsewhere(outputs_, own_);
}

bool Recorded::is_differentiable(const Tensors& seeds) const {
  bool out = leads_out_;
  for (const Tensor& seed : seeds) out = out || (recording_ && seed.defined() && seed.requires_grad());
  return out;
}

bool Recorded::must_record(bool differentiable) const { return differentiable || (recording_ && sampled_); }

Tensors Recorded::gradients(const Tensors& seeds, bool create_graph, bool retain_graph) const {
  return gradients_or_zeros(outputs_, arguments_, seeds, create_graph, retain_graph);
}

Tensors Recorded::gradients_of(size_t output, const Tensor& seed, bool create_graph) const {
  return gradients_or_zeros({outputs_[output]}, arguments_, {seed}, create_graph, true);
}

Tensors Recorded::finished(const Tensors& results, bool differentiable) const {
  return handed_out(results, differentiable, recording_);
}

Tensors handed_out(const Tensors& results, bool differentiable, bool recording) {
  if (differentiable) return results;
  Tensors out;
  for (const Tensor& x : results) out.push_back(recording ? dispatch::alias(x) : x.detach());
  return out;
}

bool Recorded::finish_aux(const std::vector<Tensor*>& aux) const {
  bool one_keeps = false;
  for (Tensor* const x : aux) {
    if (!x->defined() || !x->requires_grad()) continue;
    const bool keeps = recording_ && leads_elsewhere({*x}, own_);
    *x = handed_out({*x}, keeps, recording_)[0];
    one_keeps = one_keeps || keeps;
  }
  return one_keeps;
}

Tensors gradients_or_zeros(const Tensors& outputs, const Tensors& inputs, const Tensors& seeds, bool create_graph,
                           bool retain_graph) {
  GradOptions options{.create_graph = create_graph, .retain_graph = retain_graph, .allow_unused = true};
  Tensors reached;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].requires_grad()) continue;
    reached.push_back(outputs[i]);
    options.seeds.push_back(seeds.empty() ? Tensor() : seeds[i]);
  }
  Tensors out(inputs.size());
  if (!reached.empty()) out = grad(reached, inputs, options);
  for (size_t i = 0; i < out.size(); ++i)
    if (!out[i].defined()) out[i] = zeros_like(inputs[i].detach());
  return out;
}

}  // namespace weft::autograd
