// Run: one run of backward over a graph.
//
// The gradients of a node are pending in a map until all contributions have been added. The map is sorted by the order
// in which nodes were recorded, newest first. A node only contributes to older nodes, so the newest pending node is
// always complete. No recursion and no separate topological sort are needed.
//
// This order does not tell when the gradient of a leaf is complete, because a parameter is older than all ops that use
// it. So a first pass over the graph finds, for each leaf, the oldest node of this run that uses it, and the leaf is
// processed right after that node. Its hooks are therefore called before older ops run. (Counting contributions instead
// would delay a leaf if no gradient flows through one of its branches.)
//
// The engine accumulates: rules return gradients, and only this code checks them against the shape and dtype of the
// tensor and adds them. The gradient of a view is added directly into the pending gradient of its input if nothing else
// holds that buffer, so that k slices of one tensor need one buffer. Likewise, if a tensor was written through a view,
// its gradient becomes the gradient of its old value in the same buffer, with the written part set to zero: the cost of
// k writes is proportional to the number of elements written. A rule that supports it writes the gradients of views of
// one tensor directly into the gradient of that tensor, and that of a weight into its gradient buffer (placement.h).
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "autograd/node.h"
#include "autograd/placement.h"

namespace weft::autograd {

class OpNode;

/// The number of AnomalyMode scopes of this thread; if there is one, every gradient is checked for NaN and Inf.
int& anomaly_modes();
bool all_finite(const Tensor& x);

class Run {
 public:
  explicit Run(const BackwardOptions& options);

  /// Requests the gradient of this edge (grad()). Leaves then accumulate nothing.
  void want(const Edge& edge, Tensor* result) { wanted_[edge.node.get()].push_back({edge.index, result}); }
  /// Restricts the run to these nodes, which lead to the gradients that are wanted.
  void restrict_to(std::unordered_set<const Node*> needed) { needed_ = std::move(needed); }
  /// Adds a function to call at the end of the run (gradient_buffer.h).
  void add_done(std::function<void()> done) { done_.push_back(std::move(done)); }
  /// The run of this thread that was the innermost one when this was created.
  Run* outer() const { return outer_; }
  /// Whether leaves accumulate gradients.
  bool collects() const { return wanted_.empty(); }
  /// Runs backward from `roots`, whose gradients are `seeds`.
  void run(const std::vector<Edge>& roots, const std::vector<Tensor>& seeds);

 private:
  struct Wanted {
    int index;
    Tensor* result;
  };
  /// The gradients accumulated so far for a node.
  struct Pending {
    NodePtr node;
    Gradients gradients;
  };
  /// The position of a node in the order of the run, greatest first. Ops are ordered by sequence number. A leaf comes
  /// right after the oldest op that uses it; if several leaves do, the newest comes first.
  using Turn = std::pair<uint64_t, uint64_t>;
  static constexpr uint64_t kFirst = ~uint64_t{0};

  void run_nodes(const std::vector<Edge>& roots, const std::vector<Tensor>& seeds);
  /// Moves the gradients that wait in the gradient buffers of leaves out of them, as a run within this one may write
  /// there.
  void leave_buffers();
  /// Sets last_use_.
  void find_last_uses(const std::vector<Edge>& roots);
  Turn turn_of(const Node& node) const;
  void process(Pending item);
  void run_node(Node& node, Gradients gradients);
  /// The memory into which the rule of `node` may write gradients of inputs. Empty if that saves no copy.
  Placement place(const OpNode& node, const Gradients& gradients);
  std::optional<Part> part_of(const Edge& input) const;
  /// Whether a view only passes its gradient on. What as_strided() sees depends on the memory order of its input, and
  /// hooks and grad() want the gradient of the view itself.
  bool passes_through(const OpNode& node) const;
  /// The sum that is pending for this edge; null if there is none.
  Tensor* pending_for(const Edge& edge);
  /// So many views between a piece and the pending gradient are looked through.
  static constexpr size_t kLongestClimb = 4;
  /// For a view where a buffer that the engine alone holds is pending for its input, or for what its input is a view
  /// of: adds the gradient to the part of the buffer that the view shows. False, and nothing is done, elsewhere.
  bool add_into_pending(const OpNode& node, std::span<const Edge> edges, const Gradients& gradients);
  /// For a write through a view where the engine alone holds the gradient of the result: adds the part that was written
  /// to the gradient of the new values, and the whole, with zeros in that part, to the gradient of the old value.
  /// False, and nothing is done, elsewhere.
  bool split_written(const OpNode& node, std::span<const Edge> edges, Gradients& gradients);
  void add(const Edge& edge, Tensor gradient);
  bool is_needed(const Node& node) const { return !needed_ || needed_->contains(&node); }
  bool leads_on(const Node& node) const;
  /// Bit i: the gradient of input i leads to a requested gradient (bit 63 stands for input 63 and all later ones).
  uint64_t wanted_inputs(const Node& node) const;

  BackwardOptions options_;
  Run* outer_;
  std::map<Turn, Pending> pending_;
  std::unordered_map<const Node*, uint64_t> last_use_;  // for each leaf, the oldest op of this run that uses it
  std::unordered_map<const Node*, std::vector<Wanted>> wanted_;
  std::optional<std::unordered_set<const Node*>> needed_;
  std::vector<std::function<void()>> done_;
};

/// Runs backward from `roots`, whose gradients are `seeds`, to the leaves, or to those that the options list.
void run_backward(const std::vector<Edge>& roots, const std::vector<Tensor>& seeds, const BackwardOptions& options);

}  // namespace weft::autograd
