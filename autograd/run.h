// Run: one run of backward over a graph.
//
// Gradients wait in a map until all of their node's have come. The map is ordered by the tape, newest first: what could
// still add to the newest waiting node is newer and has run. So there is no recursion and no separate sort.
//
// A leaf has no place on the tape that says when its gradient is complete: a parameter is older than all that uses it.
// So a walk ahead finds, for each leaf, the oldest node of this run that uses it, and the leaf waits right behind that
// node. Thus its gradient is added and its hooks are called while older ops have yet to run. Branches in which no
// gradient flows hold nothing up, as they would if contributions were counted.
//
// The engine owns accumulation: rules return gradients, and only here are they checked against the shape and dtype of
// what they belong to, and added up. A view's gradient is added straight into the waiting buffer of its input when the
// engine alone holds that buffer, so that k slices of one tensor cost one buffer. In the same way the gradient of a
// tensor that was written through a view goes on to its old value in the same buffer, in which the written part
// becomes zero: k writes cost the sum of what they wrote. A rule that can write where it is told puts the gradients of
// views of one tensor into that tensor's gradient, and a weight's into its gradient buffer, at once (placement.h).
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "autograd/node.h"
#include "autograd/placement.h"

namespace weft::autograd {

class OpNode;

/// Whether this thread checks every gradient for NaN and Inf.
bool& anomaly_mode();
bool all_finite(const Tensor& x);

class Run {
 public:
  explicit Run(const BackwardOptions& options) : options_(options) {}

  /// The gradient of this edge is wanted (grad()); leaves then collect nothing.
  void want(const Edge& edge, Tensor* result) { wanted_[edge.node.get()].push_back({edge.index, result}); }
  /// Only these nodes lead to what is wanted.
  void restrict_to(std::unordered_set<const Node*> needed) { needed_ = std::move(needed); }
  /// What to call at the end of the run (gradient_buffer.h).
  void add_done(std::function<void()> done) { done_.push_back(std::move(done)); }
  /// Whether leaves collect.
  bool collects() const { return wanted_.empty(); }
  /// From `roots`, whose gradients are `seeds`.
  void run(const std::vector<Edge>& roots, const std::vector<Tensor>& seeds);

 private:
  struct Wanted {
    int index;
    Tensor* result;
  };
  /// What has arrived for a node.
  struct Pending {
    NodePtr node;
    Gradients gradients;
  };
  /// When it is a node's turn, the greatest first: ops by the tape; a leaf after the oldest op that uses it, and where
  /// several wait there, the newest leaf first.
  using Turn = std::pair<uint64_t, uint64_t>;
  static constexpr uint64_t kLast = ~uint64_t{0};

  void walk_ahead(const std::vector<Edge>& roots);
  Turn turn_of(const Node& node) const;
  void process(Pending item);
  void run_node(Node& node, Gradients gradients);
  /// Where the rule of `node` may write gradients of inputs that are views. Empty where nothing is gained.
  Placement place(const OpNode& node, const Gradients& gradients) const;
  std::optional<Part> part_of(const Edge& input) const;
  bool add_into_pending(const OpNode& node, std::span<const Edge> edges, const Gradients& gradients);
  bool pass_around_part(const OpNode& node, std::span<const Edge> edges, Gradients& gradients);
  void add(const Edge& edge, Tensor gradient);
  bool is_needed(const Node& node) const { return !needed_ || needed_->contains(&node); }
  bool leads_on(const Node& node) const;
  /// Bit i: the gradient of input i leads to what is wanted (bit 63 stands for all from there on).
  uint64_t wanted_inputs(const Node& node) const;

  BackwardOptions options_;
  std::map<Turn, Pending> pending_;
  std::unordered_map<const Node*, uint64_t> last_use_;  // of leaves: the oldest op of this run that uses them
  std::unordered_map<const Node*, std::vector<Wanted>> wanted_;
  std::optional<std::unordered_set<const Node*>> needed_;
  std::vector<std::function<void()>> done_;
};

/// One run from `roots`, whose gradients are `seeds`, to the leaves.
void run_backward(const std::vector<Edge>& roots, const std::vector<Tensor>& seeds, const BackwardOptions& options);

}  // namespace weft::autograd
