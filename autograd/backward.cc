// The engine. Pending gradients are kept in a map ordered by the nodes' sequence numbers, which is the tape order: the
// newest pending node is always ready, since whatever could still add to it is newer and has run. No recursion, no
// separate sort. Leaves are nodes like all others: their sum is complete when they are popped, so hooks see it once.
//
// The engine owns accumulation: rules return gradients, and only here are they checked against the shape and dtype of
// what they belong to, and added up. A view's gradient is added straight into the pending buffer of its input when the
// engine alone holds that buffer, so that k slices of one tensor cost one buffer.
//
// Known limits: one graph is run by one thread at a time.
#include "autograd/backward.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "autograd/grad_mode.h"
#include "autograd/op_node.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/ops/view.h"

namespace weft {
namespace autograd {
namespace {

thread_local bool anomaly = false;

bool all_finite(const Tensor& x) {
  NoGrad guard;
  const bool previous = std::exchange(anomaly, false);
  const ModeScope unobserved(&Modes::observer, static_cast<Observer*>(nullptr));
  const bool finite = isfinite(x).all().item<bool>();
  anomaly = previous;
  return finite;
}

/// What has arrived for a node.
struct Pending {
  NodePtr node;
  Gradients gradients;
};

class Run {
 public:
  Run(const BackwardOptions& options) : options_(options) {}

  void seed(const Edge& root, const Tensor& seed) { add(root, seed); }

  /// The gradient of this edge is wanted (grad()); leaves then collect nothing.
  void want(const Edge& edge, Tensor* result) { wanted_[edge.node.get()].push_back({edge.index, result}); }
  /// Only these nodes lead to what is wanted.
  void restrict_to(std::unordered_set<const Node*> needed) { needed_ = std::move(needed); }

  void run() {
    GradMode mode(options_.create_graph);
    const ModeScope exact(&Modes::autocast, f32);
    while (!pending_.empty()) {
      auto newest = std::prev(pending_.end());
      Pending item = std::move(newest->second);
      pending_.erase(newest);
      process(std::move(item));
    }
  }

 private:
  struct Wanted {
    int index;
    Tensor* result;
  };

  void process(Pending item) {
    Node& node = *item.node;
    for (size_t i = 0; i < item.gradients.size(); ++i)
      item.gradients[i] = node.through_hooks(static_cast<int>(i), std::move(item.gradients[i]));
    if (!wanted_.empty()) {
      if (auto found = wanted_.find(&node); found != wanted_.end())
        for (const Wanted& w : found->second) *w.result = item.gradients[static_cast<size_t>(w.index)];
      if (node.is_leaf() || !leads_on(node)) return;
    }
    if (node.freed())
      throw GradientError(text("backward through `", node.name(),
                               "` a second time: its graph was freed by the first; use retain_graph"));
    run_node(node, std::move(item.gradients));
    if (!options_.retain_graph && !options_.create_graph) node.free_saved();
  }

  void run_node(Node& node, Gradients gradients) {
    const std::span<const Edge> edges = node.edges();
    if (!options_.create_graph && add_into_pending(node, edges, gradients)) return;
    Gradients results = run_observed(node, std::move(gradients));
    if (results.size() != edges.size())
      throw GradientError(text("the backward of `", node.name(), "` returned ", results.size(), " gradients for ",
                               edges.size(), " inputs"));
    for (size_t i = 0; i < edges.size(); ++i) {
      if (!edges[i].node || !results[i].defined() || !is_needed(*edges[i].node)) continue;
      if (anomaly && !all_finite(results[i]))
        throw GradientError(text("the backward of `", node.describe(), "` made a NaN or Inf in the gradient of input ",
                                 i, " of shape ", results[i].shape()));
      check(node, i, edges[i], results[i]);
      add(edges[i], std::move(results[i]));
    }
  }

  static Gradients run_observed(Node& node, Gradients gradients) {
    if (!is_observed()) [[likely]]
      return node.run(std::move(gradients));
    const std::string name = node.name();
    std::vector<const Tensor*> inputs;
    for (const Tensor& g : gradients) inputs.push_back(&g);
    const Gradients given = gradients;
    Gradients results;
    {
      ObservedEvent event({.kind = Event::Kind::backward, .name = name, .inputs = inputs});
      results = node.run(given);
      event.set_outputs(results);
    }
    return results;
  }

  /// A view whose rule is the generic adjoint, where a buffer that the engine alone holds is waiting for its input.
  bool add_into_pending(Node& node, std::span<const Edge> edges, const Gradients& gradients) {
    const OpNode* view = dynamic_cast<const OpNode*>(&node);
    if (view == nullptr || !view->op().is_view() || !edges[0].node || !gradients[0].defined()) return false;
    auto found = pending_.find(edges[0].node->sequence());
    if (found == pending_.end()) return false;
    Tensor& buffer = found->second.gradients[static_cast<size_t>(edges[0].index)];
    if (!buffer.defined() || !internal::is_sole_handle(buffer) || !internal::storage(buffer).unique() ||
        !buffer.layout().is_dense())
      return false;
    if (view->op().is<op::AsStrided>() && !buffer.is_contiguous()) return false;
    const std::optional<View> part = view->op().view(buffer.layout());
    if (!part || part->has_mask() || part->overlaps_itself() || part->shape() != gradients[0].shape()) return false;
    dispatch::add_into(gradients[0], buffer, *part);
    return true;
  }

  static void check(const Node& node, size_t input, const Edge& edge, const Tensor& gradient) {
    const Meta* meta = edge.node->meta(edge.index);
    if (meta == nullptr || (gradient.shape() == meta->shape && gradient.dtype() == meta->dtype)) return;
    throw GradientError(text("the backward of `", node.name(), "` gave input ", input, " a gradient of ",
                             weft::describe(gradient), " where ", meta->shape, " ", meta->dtype, " is right"));
  }

  void add(const Edge& edge, Tensor gradient) {
    if (!is_needed(*edge.node)) return;
    auto [place, fresh] = pending_.try_emplace(edge.node->sequence());
    Pending& item = place->second;
    if (fresh) {
      item.node = edge.node;
      item.gradients.resize(static_cast<size_t>(edge.node->output_count()));
    }
    Tensor& sum = item.gradients[static_cast<size_t>(edge.index)];
    if (!sum.defined()) {
      sum = std::move(gradient);
    } else if (!options_.create_graph && internal::is_sole_handle(sum) && internal::storage(sum).unique() &&
               sum.layout().is_dense()) {
      sum.add_(gradient);
    } else {
      sum = weft::add(sum, gradient);
    }
  }

  bool is_needed(const Node& node) const { return !needed_ || needed_->contains(&node); }
  bool leads_on(const Node& node) const {
    for (const Edge& edge : node.edges())
      if (edge.node && is_needed(*edge.node)) return true;
    return false;
  }

  BackwardOptions options_;
  std::map<uint64_t, Pending> pending_;
  std::unordered_map<const Node*, std::vector<Wanted>> wanted_;
  std::optional<std::unordered_set<const Node*>> needed_;
};

/// The nodes from which a path leads to one of `targets`, targets included.
std::unordered_set<const Node*> nodes_leading_to(const std::vector<Edge>& roots,
                                                 const std::unordered_set<const Node*>& targets) {
  std::map<uint64_t, const Node*> reachable;  // oldest first: inputs come before what uses them
  std::vector<const Node*> stack;
  auto visit = [&](const Node* node) {
    if (reachable.try_emplace(node->sequence(), node).second) stack.push_back(node);
  };
  for (const Edge& root : roots) visit(root.node.get());
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->edges())
      if (edge.node) visit(edge.node.get());
  }
  std::unordered_set<const Node*> needed;
  for (const auto& [sequence, node] : reachable) {
    bool leads = targets.contains(node);
    for (const Edge& edge : node->edges()) leads = leads || (edge.node && needed.contains(edge.node.get()));
    if (leads) needed.insert(node);
  }
  return needed;
}

/// The edge of a tensor that backward starts from. GradientError where it has no history.
Edge root_edge(const Tensor& root) {
  const internal::TensorBody& body = internal::body(root);
  if (body.history && body.history->requires_grad()) {
    dispatch::check_version(root);
    return edge_of(root);
  }
  if (body.cut != nullptr)
    throw GradientError(text("no gradient reaches a parameter: `", body.cut->name, "` has none and cut the path"));
  throw GradientError("the tensor has no history: nothing it was computed from requires a gradient (see parameter())");
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
  return cast(seed, root.dtype());
}

}  // namespace

void run_backward(const std::vector<Edge>& roots, const std::vector<Tensor>& seeds, const BackwardOptions& options) {
  Run run(options);
  for (size_t i = 0; i < roots.size(); ++i) run.seed(roots[i], seeds[i]);
  run.run();
}

}  // namespace autograd

void backward(const std::vector<Tensor>& roots, const std::vector<Tensor>& seeds, const BackwardOptions& options) {
  Frame frame("backward", std::span<const Tensor>(roots));
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
  Frame frame("backward", *this);
  const autograd::Edge root = autograd::root_edge(*this);
  autograd::run_backward({root}, {autograd::seed_of(*this, seed)}, options);
}

void Tensor::backward(const BackwardOptions& options) const { backward(Tensor(), options); }

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options) {
  Frame frame("grad", std::span<const Tensor>(outputs));
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
  run.restrict_to(autograd::nodes_leading_to(roots, targets));
  for (size_t i = 0; i < outputs.size(); ++i)
    run.seed(roots[i], autograd::seed_of(outputs[i], options.seeds.empty() ? Tensor() : options.seeds[i]));
  run.run();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!results[i].defined() && !options.allow_unused)
      throw GradientError(
          text("input ", i, " of shape ", inputs[i].shape(), " was not used to compute the outputs; use allow_unused"));
  return results;
}

/// Looks at every op's results.
struct AnomalyMode::Watcher final : Observer {
  void end(const Event& event) override {
    if (event.kind != Event::Kind::op || event.info->view != nullptr || !autograd::anomaly) return;
    for (const Tensor& out : event.outputs)
      if (is_floating(out.dtype()) && !autograd::all_finite(out))
        throw GradientError(text("`", AnyOp(*event.info, event.op).to_string(),
                                 "` made a NaN or Inf in a result of shape ", out.shape()));
  }
  ObserverScope scope{*this};
};

AnomalyMode::AnomalyMode() : watcher_(std::make_unique<Watcher>()), previous_(std::exchange(autograd::anomaly, true)) {}
AnomalyMode::~AnomalyMode() {
  watcher_.reset();
  autograd::anomaly = previous_;
}

}  // namespace weft
