// backward() and grad(): which arguments they accept, and how they set up a Run (run.h).
#include "autograd/backward.h"

#include <algorithm>
#include <unordered_set>

#include "autograd/run.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"

namespace weft {
namespace autograd {
namespace {

/// The nodes from which a path leads to one of `targets`, targets included. A path leads from newer to older nodes, so
/// what is older than all targets is not visited: many short grad() on one long graph cost what they run through.
std::unordered_set<const Node*> nodes_leading_to(const std::vector<Edge>& roots,
                                                 const std::unordered_set<const Node*>& targets) {
  std::vector<const Node*> newest;
  for (const Edge& root : roots) newest.push_back(root.node.get());
  uint64_t oldest = ~uint64_t{0};
  for (const Node* target : targets) oldest = std::min(oldest, target->sequence());
  std::unordered_set<const Node*> needed;
  for (const auto& [sequence, node] : nodes_behind(newest, oldest)) {
    bool leads = targets.contains(node);
    for (const Edge& edge : node->edges()) leads = leads || (edge.node && needed.contains(edge.node.get()));
    if (leads) needed.insert(node);
  }
  return needed;
}

/// The edge of a tensor that backward starts from. GradientError where it has no history.
Edge root_edge(const Tensor& root) {
  const internal::TensorBody& body = internal::body(root);
  if (root.requires_grad()) {
    dispatch::check_version(root);
    return edge_of(root);
  }
  if (body.cut != nullptr)
    throw GradientError(text("no gradient reaches a parameter: `", body.cut->name, "` has none and cut the path"));
  throw GradientError(
      "the tensor has no history: nothing it was computed from requires a gradient (see parameter()), it was computed "
      "under NoGrad, or it is a gradient that was taken without create_graph");
}

/// The given seed, or 1 for a scalar.
Tensor seed_of(const Tensor& root, const Tensor& seed) {
  if (!seed.defined()) {
    if (root.numel() != 1)
      throw GradientError(text("a tensor of shape ", root.shape(),
                               " is not a scalar: pass the gradient to start from, or "
                               "reduce it, e.g. with sum()"));
    return ones_like(root);
  }
  if (seed.shape() != root.shape())
    throw GradientError(text("the seed has shape ", seed.shape(), ", the tensor has ", root.shape()));
  const auto is_sample = [](const Tensor& x) { return x.device().kind == DeviceKind::vmap; };
  if (seed.device() != root.device() && !is_sample(seed) && !is_sample(root))
    throw GradientError(
        text("the seed is on ", name_of(seed.device()), ", the tensor on ", name_of(root.device()), "; use to()"));
  return cast(seed, root.dtype());
}

/// The leaves whose gradients backward is to compute.
std::unordered_set<const Node*> leaves_of(const std::vector<Tensor>& inputs) {
  std::unordered_set<const Node*> leaves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Edge edge = edge_of(inputs[i]);
    if (!edge.node) throw GradientError(text("input ", i, " (", describe(inputs[i]), ") does not require a gradient"));
    if (!edge.node->is_leaf())
      throw GradientError(text("input ", i, " of shape ", inputs[i].shape(), " is the result of `", edge.node->name(),
                               "`, not a leaf; use grad(outputs, inputs)"));
    leaves.insert(edge.node.get());
  }
  return leaves;
}

}  // namespace

void run_backward(const std::vector<Edge>& roots, const std::vector<Tensor>& seeds, const BackwardOptions& options) {
  Run run(options);
  if (!options.inputs.empty()) run.restrict_to(nodes_leading_to(roots, leaves_of(options.inputs)));
  run.run(roots, seeds);
}

}  // namespace autograd

void backward(const std::vector<Tensor>& roots, const std::vector<Tensor>& seeds, const BackwardOptions& options) {
  ErrorFrame frame("backward", std::span<const Tensor>(roots));
  if (!seeds.empty() && seeds.size() != roots.size())
    throw GradientError(text(seeds.size(), " seeds for ", roots.size(), " tensors"));
  std::vector<autograd::Edge> edges;
  std::vector<Tensor> start;
  for (size_t i = 0; i < roots.size(); ++i) {
    edges.push_back(autograd::root_edge(roots[i]));
    start.push_back(autograd::seed_of(roots[i], seeds.empty() ? Tensor() : seeds[i]));
  }
  autograd::run_backward(edges, start, options);
}

void Tensor::backward(const Tensor& seed, const BackwardOptions& options) const {
  ErrorFrame frame("backward", *this);
  const autograd::Edge root = autograd::root_edge(*this);
  autograd::run_backward({root}, {autograd::seed_of(*this, seed)}, options);
}

void Tensor::backward() const { backward(Tensor(), {}); }
void Tensor::backward(const BackwardOptions& options) const { backward(Tensor(), options); }
void Tensor::backward(const Tensor& seed) const { backward(seed, {}); }

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options) {
  ErrorFrame frame("grad", std::span<const Tensor>(outputs));
  if (!options.seeds.empty() && options.seeds.size() != outputs.size())
    throw GradientError(text(options.seeds.size(), " seeds for ", outputs.size(), " outputs"));
  autograd::Run run({.retain_graph = options.retain_graph, .create_graph = options.create_graph});
  std::vector<autograd::Edge> roots;
  for (const Tensor& output : outputs) roots.push_back(autograd::root_edge(output));

  std::vector<Tensor> results(inputs.size());
  std::unordered_set<const autograd::Node*> targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const autograd::Edge edge = autograd::edge_of(inputs[i]);
    if (!edge.node) {
      if (options.allow_unused) continue;
      throw GradientError(text("input ", i, " of shape ", inputs[i].shape(), " does not require a gradient"));
    }
    targets.insert(edge.node.get());
    run.want(edge, &results[i]);
  }
  std::unordered_set<const autograd::Node*> needed = autograd::nodes_leading_to(roots, targets);
  std::vector<bool> is_used;
  for (const Tensor& input : inputs) is_used.push_back(needed.contains(autograd::edge_of(input).node.get()));
  run.restrict_to(std::move(needed));
  std::vector<Tensor> seeds;
  for (size_t i = 0; i < outputs.size(); ++i)
    seeds.push_back(autograd::seed_of(outputs[i], options.seeds.empty() ? Tensor() : options.seeds[i]));
  run.run(roots, seeds);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (results[i].defined() || options.allow_unused) continue;
    if (!is_used[i])
      throw GradientError(
          text("input ", i, " of shape ", inputs[i].shape(), " was not used to compute the outputs; use allow_unused"));
    results[i] = zeros_like(inputs[i].detach());  // no gradient flows through what is flat, as relu's slope
  }
  return results;
}

/// Checks the results of every op.
struct AnomalyMode::Watcher final : Observer {
  void end(const ObserverEvent& event) override {
    if (event.kind != ObserverEvent::Kind::op || event.info->view != nullptr || autograd::anomaly_modes() == 0) return;
    for (const Tensor& out : event.outputs)
      if (is_floating(out.dtype()) && !autograd::all_finite(out))
        throw GradientError(text("`", AnyOp(*event.info, event.op).to_string(),
                                 "` made a NaN or Inf in a result of shape ", out.shape()));
  }
  ObserverScope scope{*this};
};

AnomalyMode::AnomalyMode() : watcher_(new Watcher) { ++autograd::anomaly_modes(); }
AnomalyMode::~AnomalyMode() { --autograd::anomaly_modes(); }

}  // namespace weft
