// Node: one step of history. The tape is made of Nodes that own the Nodes of their inputs.
//
// Where to start reading: OpNode::create (called by dispatch through Provenance::record) makes a node for an op that
// ran; backward.cc walks nodes, newest first; rule.h says how an op's gradient is written.
//
//   tensor body --history--> Node --edges--> Nodes of its inputs ... --> Leaf
//
// Ownership runs from results to inputs only, so a graph that is dropped frees itself. What a rule reads is kept as
// Saved: storage, view and version, never a tensor body, since a body would own its own history (a cycle for outputs,
// and a stale history after writes in place). Nodes whose last reference goes while another is deleted wait in a list
// that is emptied in a loop: a million steps are freed without recursion.
//
// Threads: leaves may be shared by graphs that several threads run at once; any other node is run by one thread at a
// time (see backward.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/saver.h"
#include "tensor/dispatch/apply.h"

namespace weft::autograd {

class Node;
using NodePtr = IntrusivePtr<Node>;

/// Output `index` of `node`; null where the input needs no gradient.
struct Edge {
  NodePtr node;
  int index = 0;
};

/// What an output looked like, to check the gradients that arrive for it.
struct Meta {
  Shape shape;
  DType dtype = DType::f32;
};

/// A tensor kept for backward, without its history: its memory, or where hooks are active (saved_hooks.h) what they
/// made of it.
struct Saved {
  IntrusivePtr<Storage> storage;
  View view;
  DType dtype = DType::f32;
  uint64_t version = 0;
  std::shared_ptr<Packed> packed;

  // (Not an aggregate: g++ sets all bytes of one to 0 before it fills it.)
  Saved() {}
  /// As it is now; a write since the version that x's history describes is noticed by unpack().
  explicit Saved(const Tensor& x) { keep(x); }
  /// Saved(x) in the place of an empty one.
  void keep(const Tensor& x);
  bool empty() const { return !storage && !packed; }
  int64_t bytes() const;
};

using SavedVisitor = std::function<void(const Saved& saved, bool is_leafs)>;

/// Gradients of one node's outputs, undefined where nothing flowed.
using Gradients = std::vector<Tensor>;

class Node : public Provenance {
 public:
  explicit Node(bool leaf);
  static void* operator new(size_t bytes) { return detail::allocate_object(bytes); }
  static void operator delete(void* p, size_t bytes) noexcept { detail::free_object(p, bytes); }

  uint64_t sequence() const { return sequence_; }
  /// One per input, in order.
  virtual std::span<const Edge> edges() const = 0;
  virtual int output_count() const = 0;
  /// The shape and dtype of an output; shape unknown (null) where it never was a tensor that takes a gradient.
  virtual const Meta* meta(int output) const = 0;
  /// The inputs' gradients from the outputs' (a moved-in list with output_count() entries): one per edge.
  virtual Gradients run(Gradients gradients) = 0;
  /// Drops what was saved. Where that was something, running again is an error.
  virtual void free_saved() = 0;
  bool freed() const { return freed_; }
  /// Whether an output, or what it is a view of, may be computed again instead of kept (recomputation.h).
  bool may_recompute() const { return may_recompute_; }
  /// Calls `visit` with each tensor kept for backward, and whether it is a leaf's (which lives anyway).
  virtual void visit_saved(const SavedVisitor&) const {}
  /// Bytes kept for backward.
  int64_t saved_bytes() const;
  /// For the graph dump: the op with its attributes.
  virtual std::string describe() const { return name(); }

  /// True where the run of this number has not visited the node before.
  bool visit(uint64_t run) const {
    if (visited_by_.load(std::memory_order_relaxed) == run) return false;
    visited_by_.store(run, std::memory_order_relaxed);
    return true;
  }
  bool has_hooks() const { return hooks_ != nullptr; }
  /// Runs the hooks of output `index` on its gradient.
  Tensor through_hooks(int index, Tensor gradient) const;

  // Provenance
  void record(const OpCall& call) const override;
  bool would_keep(const OpInfo& info, std::span<const Tensor* const> inputs, size_t index) const override;
  void backward(int index, const Tensor& seed, const BackwardOptions& options) override;
  int add_hook(int index, GradientHook hook) override;
  void remove_hook(int number) override;
  Tensor gradient() const override;
  void set_gradient(const Tensor& gradient) override;
  int add_accumulated_hook(AccumulatedHook hook) override;
  void set_requires_grad(bool value) override;
  void set_name(const std::string& name) override;
  void replaced(const Tensor& leaf) override;

 protected:
  /// The index of hooks that run after a leaf has accumulated.
  static constexpr int kAccumulated = -1;
  bool freed_ = false;
  bool may_recompute_ = false;

 private:
  struct Hook {
    int index;
    int number;
    GradientHook function;
  };
  void dispose() noexcept override;

  uint64_t sequence_;
  Node* next_waiting_ = nullptr;                 // in the list of dispose()
  mutable std::atomic<uint64_t> visited_by_{0};  // the last run that saw the node
  std::unique_ptr<std::vector<Hook>> hooks_;
};

/// Whether `x` is the only handle of memory that nothing else holds and no user lent (Tensor::wrap): it may be written.
inline bool holds_alone(const Tensor& x) {
  const Storage& storage = internal::storage(x);
  return internal::is_sole_handle(x) && storage.unique() && !storage.is_borrowed();
}
/// The history of a tensor; null where no gradient flows.
inline Node* node_of(const Tensor& x) { return static_cast<Node*>(internal::body(x).history.get()); }
/// A leaf, or a view of one.
inline bool is_leafs(const Edge& edge) { return edge.node && (edge.node->is_leaf() || edge.node->is_view_of_leaf()); }
/// The edge that gradients of `x` pass along: null node where it needs none.
Edge edge_of(const Tensor& x);
/// A tensor over saved memory with the history of `edge`. Throws GradientError naming `op` where the memory was written
/// since.
Tensor unpack(const Saved& saved, const Edge& edge, std::string_view op, std::string_view what, int index);

}  // namespace weft::autograd
