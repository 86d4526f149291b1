#include "autograd/run.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "autograd/grad_mode.h"
#include "autograd/gradient_buffer.h"
#include "autograd/leaf_node.h"
#include "autograd/node_frame.h"
#include "autograd/op_node.h"
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/view.h"
#include "tensor/ops/strided_scatter.h"
#include "tensor/ops/view.h"

namespace weft::autograd {
namespace {

/// The gradient that `node` gave its input `edge` has the shape and dtype of that input.
void check(const Node& node, size_t input, const Edge& edge, const Tensor& gradient) {
  const Meta* meta = edge.node->meta(edge.index);
  if (meta == nullptr || (gradient.shape() == meta->shape && gradient.dtype() == meta->dtype)) return;
  throw GradientError(text("the backward of `", node.name(), "` gave input ", input, " a gradient of ",
                           weft::describe(gradient), " where ", meta->shape, " ", meta->dtype, " is right"));
}

/// The engine alone holds this memory, and may add `more` to it in place.
bool is_own(const Tensor& buffer, const Tensor& more) {
  return buffer.device() == more.device() && holds_alone(buffer) && buffer.layout().is_dense();
}

/// Whether to add `sum` into the memory of `gradient`, which the engine alone holds. It must have the memory order that
/// sum + gradient would have, and be large: for small tensors, allocating the result is faster than a write in place.
bool can_take_sum(const Tensor& gradient, const Tensor& sum) {
  constexpr int64_t kLarge = 4096;
  return gradient.numel() >= kLarge &&
         (!sum.layout().is_dense() || sum.layout().strides() == gradient.layout().strides());
}

Gradients run_rule(Node& node, Gradients gradients, std::span<const Tensor> into, uint64_t wanted) {
  if (as_op_node(&node) == nullptr) return node.run(std::move(gradients));
  return static_cast<OpNode&>(node).run_into(std::move(gradients), into, wanted);
}

/// run_rule(), observed.
Gradients run_observed(Node& node, Gradients gradients, std::span<const Tensor> into, uint64_t wanted) {
  if (!is_observed()) [[likely]]
    return run_rule(node, std::move(gradients), into, wanted);
  const std::string name = node.is_leaf() ? "leaf" : node.name(), path = node.is_leaf() ? node.name() : "";
  // A second handle of a gradient would keep the rule from writing over it.
  const bool separate = internal::needs_separate_ops();
  const Gradients kept = separate ? gradients : Gradients();
  std::vector<const Tensor*> inputs;
  for (const Tensor& g : separate ? kept : gradients) inputs.push_back(&g);
  Gradients results;
  {
    ObservedEvent event({.kind = ObserverEvent::Kind::backward, .name = name, .path = path, .inputs = inputs});
    if (!separate) event.forget_inputs();
    results = run_rule(node, std::move(gradients), into, wanted);
    event.set_outputs(results);
  }
  return results;
}

/// The innermost run of this thread.
Run*& current_run() {
  static thread_local Run* run = nullptr;
  return run;
}

/// Makes a run the innermost one while alive.
struct RunScope {
  explicit RunScope(Run* run) { current_run() = run; }
  ~RunScope() { current_run() = current_run()->outer(); }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;
};

}  // namespace

Run::Run(const BackwardOptions& options) : options_(options), outer_(current_run()) {}

void after_backward(std::function<void()> done) {
  Run* run = current_run();
  if (run == nullptr) throw GradientError("after_backward: no backward runs on this thread");
  while (run->outer() != nullptr) run = run->outer();
  run->add_done(std::move(done));
}

bool is_nested_backward() { return current_run() != nullptr && current_run()->outer() != nullptr; }

bool collects_into_leaves() { return current_run() != nullptr && current_run()->collects(); }

int& anomaly_modes() {
  static thread_local int count = 0;
  return count;
}

bool all_finite(const Tensor& x) {
  NoGrad guard;
  struct Off {
    int before = std::exchange(anomaly_modes(), 0);
    ~Off() { anomaly_modes() = before; }
  } const off;
  const internal::Unobserved unobserved;
  return dispatch::all_samples(isfinite(x)).all().item<bool>();
}

void Run::run(const std::vector<Edge>& roots, const std::vector<Tensor>& seeds) {
  if (!is_observed()) [[likely]]
    return run_nodes(roots, seeds);
  const ObservedEvent event({.kind = ObserverEvent::Kind::backward, .name = "graph"});
  run_nodes(roots, seeds);
}

void Run::run_nodes(const std::vector<Edge>& roots, const std::vector<Tensor>& seeds) {
  GradMode mode(options_.create_graph);
  const internal::ModeScope exact(&internal::Modes::autocast, f32);
  if (collects())
    for (Run* run = outer_; run != nullptr; run = run->outer_) run->leave_buffers();
  const RunScope scope(this);
  find_last_uses(roots);
  for (size_t i = 0; i < roots.size(); ++i) add(roots[i], seeds[i]);
  while (!pending_.empty()) {
    auto newest = std::prev(pending_.end());
    Pending item = std::move(newest->second);
    pending_.erase(newest);
    process(std::move(item));
  }
  for (size_t i = 0; i < done_.size(); ++i) {
    const std::function<void()> done = std::move(done_[i]);  // one may add another, which moves the list
    done();
  }
}

void Run::leave_buffers() {
  for (auto& [turn, item] : pending_) {
    if (!item.node->is_leaf() || !item.gradients[0].defined()) continue;
    const Tensor buffer = static_cast<const Leaf&>(*item.node).free_buffer();
    if (buffer.defined() && item.gradients[0].shares_storage(buffer)) item.gradients[0] = clone(item.gradients[0]);
  }
}

void Run::find_last_uses(const std::vector<Edge>& roots) {
  static std::atomic<uint64_t> last_run{0};
  const uint64_t number = ++last_run;
  std::vector<const Node*> waiting;
  // Which nodes were visited is remembered in the nodes, and only while this function runs: hooks may run backward
  // on parts of this graph later. Leaves are shared with other threads, so what is found about them is kept here.
  const auto reach = [&](const Node& node, uint64_t user) {
    if (!node.is_leaf()) {
      if (node.visit(number)) waiting.push_back(&node);
      return;
    }
    const auto [place, fresh] = last_use_.try_emplace(&node, user);
    if (!fresh) place->second = std::min(place->second, user);
  };
  for (const Edge& root : roots)
    if (is_needed(*root.node)) reach(*root.node, kFirst);
  while (!waiting.empty()) {
    const Node& user = *waiting.back();
    waiting.pop_back();
    for (const Edge& edge : user.edges())
      if (edge.node && is_needed(*edge.node)) reach(*edge.node, user.sequence());
  }
}

Run::Turn Run::turn_of(const Node& node) const {
  if (node.is_leaf()) return {last_use_.at(&node), node.sequence()};
  return {node.sequence(), kFirst};
}

void Run::process(Pending item) {
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
                             "` a second time: what it saved was freed by the first; use retain_graph"));
  run_node(node, std::move(item.gradients));
  if (!options_.retain_graph && !options_.create_graph) node.free_saved();
}

void Run::run_node(Node& node, Gradients gradients) {
  const std::span<const Edge> edges = node.edges();
  Placement placement;
  if (!options_.create_graph)
    if (const OpNode* op = as_op_node(&node)) {
      if (add_into_pending(*op, edges, gradients) || split_written(*op, edges, gradients)) return;
      if (op->placed_inputs() != 0) placement = place(*op, gradients);
    }
  Gradients results;
  {
    const NodeFrame frame("backward of", node);
    results = run_observed(node, std::move(gradients), placement.into(), wanted_inputs(node));
  }
  if (results.size() != edges.size())
    throw GradientError(text("the backward of `", node.name(), "` returned ", results.size(), " gradients, not ",
                             edges.size(), ", one for each tensor argument"));
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!edges[i].node || !results[i].defined() || !is_needed(*edges[i].node)) continue;
    if (anomaly_modes() > 0 && !all_finite(results[i]))
      throw GradientError(text("the backward of `", node.describe(), "` made a NaN or Inf in the gradient of input ", i,
                               " of shape ", results[i].shape()));
    check(node, i, edges[i], results[i]);
    if (!placement.took(i, results[i])) add(edges[i], std::move(results[i]));
  }
  results.clear();
  placement.finish([&](const Edge& whole, Tensor gradient) { add(whole, std::move(gradient)); });
}

bool Run::passes_through(const OpNode& node) const {
  return node.op().is_view() && !node.op().is<op::AsStrided>() && !node.has_hooks() && !wanted_.contains(&node);
}

std::optional<Part> Run::part_of(const Edge& input) const {
  std::vector<const OpNode*> views;
  Edge whole = input;
  while (const OpNode* node = as_op_node(whole.node.get())) {
    if (!passes_through(*node)) break;
    views.push_back(node);
    whole = node->edges()[0];
  }
  const Meta* meta = whole.node->meta(whole.index);
  if (views.empty() || meta == nullptr || !is_needed(*whole.node)) return std::nullopt;
  std::optional<View> view = View::contiguous(meta->shape);
  for (auto node = views.rbegin(); node != views.rend() && view; ++node) view = (*node)->op().view(*view);
  if (!view || view->has_mask() || view->overlaps_itself()) return std::nullopt;
  return Part{whole, *view};
}

Placement Run::place(const OpNode& node, const Gradients& gradients) {
  Placement placement;
  const auto given = std::find_if(gradients.begin(), gradients.end(), [](const Tensor& g) { return g.defined(); });
  if (given == gradients.end() || given->device().kind == DeviceKind::vmap) return placement;
  const size_t inputs = node.edges().size();
  // A gradient that is pending already has to be added to, not written over.
  const auto is_pending = [&](const Edge& edge) { return pending_for(edge) != nullptr; };
  for (size_t i = 0; i < inputs; ++i) {
    const Edge& input = node.edges()[i];
    if ((node.placed_inputs() >> i & 1u) == 0 || !input.node || !is_needed(*input.node)) continue;
    if (input.node->is_leaf()) {
      const Tensor buffer = wanted_.empty() ? static_cast<const Leaf&>(*input.node).free_buffer() : Tensor();
      if (buffer.defined() && !is_pending(input)) placement.add_leaf(i, inputs, input, buffer);
    } else if (const std::optional<Part> part = part_of(input); part && !is_pending(part->whole)) {
      placement.add(i, inputs, *part, given->device());
    }
  }
  placement.allocate();
  return placement;
}

Tensor* Run::pending_for(const Edge& edge) {
  const auto found = pending_.find(turn_of(*edge.node));
  if (found == pending_.end()) return nullptr;
  Tensor& sum = found->second.gradients[static_cast<size_t>(edge.index)];
  return sum.defined() ? &sum : nullptr;
}

bool Run::add_into_pending(const OpNode& node, std::span<const Edge> edges, const Gradients& gradients) {
  if (!node.op().is_view() || !edges[0].node || !gradients[0].defined()) return false;
  if (!is_needed(*edges[0].node)) return false;
  std::array<const OpNode*, kLongestClimb + 1> views = {&node};
  size_t count = 1;
  const Edge* whole = edges.data();
  Tensor* buffer = pending_for(*whole);
  // The input of a piece may be a view as well. One that only the piece uses, and whose turn is next, need not have a
  // gradient of its own: what is added to the sum, and when, stays the same.
  const Meta* meta = whole->node->meta(whole->index);
  const bool is_piece = meta != nullptr && gradients[0].numel() < checked_numel(meta->shape);
  while (buffer == nullptr && is_piece && count < views.size()) {
    const OpNode* view = as_op_node(whole->node.get());
    if (view == nullptr || !passes_through(*view) || !view->unique()) return false;
    if (pending_.empty() || turn_of(*view) < pending_.rbegin()->first) return false;
    views[count++] = view;
    whole = view->edges().data();
    if (!whole->node || !is_needed(*whole->node)) return false;
    buffer = pending_for(*whole);
  }
  if (buffer == nullptr || !is_own(*buffer, gradients[0])) return false;
  if (node.op().is<op::AsStrided>() && (count > 1 || !buffer->is_contiguous())) return false;
  std::optional<View> part = buffer->layout();
  while (count > 0 && part) part = views[--count]->op().view(*part);
  if (!part || part->has_mask() || part->overlaps_itself() || part->shape() != gradients[0].shape()) return false;
  dispatch::add_into(gradients[0], *buffer, *part);
  return true;
}

bool Run::split_written(const OpNode& node, std::span<const Edge> edges, Gradients& gradients) {
  if (!node.op().is<op::AsStridedScatter>()) return false;
  Tensor& whole = gradients[0];
  if (!whole.defined() || !is_own(whole, whole) || !whole.is_contiguous()) return false;
  const auto& op = node.op().as<op::AsStridedScatter>();
  {
    Tensor part = as_strided(whole, op.shape, op.strides, op.offset);
    if (edges[1].node) add(edges[1], clone(part));
    if (edges[0].node) part.fill_(0);
  }
  if (edges[0].node) add(edges[0], std::move(whole));
  return true;
}

void Run::add(const Edge& edge, Tensor gradient) {
  if (!is_needed(*edge.node)) return;
  auto [place, fresh] = pending_.try_emplace(turn_of(*edge.node));
  Pending& item = place->second;
  if (fresh) {
    item.node = edge.node;
    item.gradients.resize(static_cast<size_t>(edge.node->output_count()));
  }
  Tensor& sum = item.gradients[static_cast<size_t>(edge.index)];
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else if (!options_.create_graph && is_own(sum, gradient)) {
    sum.add_(gradient);
  } else if (!options_.create_graph && is_own(gradient, sum) && can_take_sum(gradient, sum)) {
    gradient.add_(sum);
    sum = std::move(gradient);
  } else {
    sum = weft::add(sum, gradient);
  }
}

bool Run::leads_on(const Node& node) const {
  for (const Edge& edge : node.edges())
    if (edge.node && is_needed(*edge.node)) return true;
  return false;
}

uint64_t Run::wanted_inputs(const Node& node) const {
  if (!needed_) return OpNode::kAllInputs;
  uint64_t mask = 0;
  const std::span<const Edge> edges = node.edges();
  for (size_t i = 0; i < edges.size(); ++i)
    if (edges[i].node && is_needed(*edges[i].node)) mask |= uint64_t{1} << std::min<size_t>(i, 63);
  return mask;
}

}  // namespace weft::autograd
