// Node: one recorded step of the graph. A Node owns the Nodes of its inputs.
//
// Where to start reading: OpNode::create (called by dispatch through Provenance::record) makes a node for an op that
// ran; backward.cc visits nodes, newest first; rule.h describes gradient rules.
//
//   tensor body --history--> Node --edges--> Nodes of its inputs ... --> Leaf
//
// Results own their inputs' nodes and never the reverse, so there are no reference cycles. A tensor that a rule reads
// is kept as a Saved: storage, view and version. It does not keep the tensor body, because a body owns its history (a
// cycle for outputs, and a stale history after writes in place). If deleting a node releases the last reference to
// another, that one is put into a list, which a loop empties: a graph of a million steps is freed without recursion.
//
// Threads: several threads may run graphs that share leaves at the same time. Any other node is run by one thread at a
// time (see backward.h).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autograd/saver.h"
#include "tensor/dispatch/apply.h"

namespace weft::autograd {

class Node;
using NodePtr = IntrusivePtr<Node>;

/// Refers to output `index` of `node`. The node is null if the input needs no gradient.
struct Edge {
  NodePtr node;
  int index = 0;
};

/// The shape and dtype of an output, to check the gradients that arrive for it.
struct Meta {
  Shape shape;
  DType dtype = DType::f32;
};

/// A tensor saved for backward, without its history: its memory, or if saved-tensor hooks are active (saved_hooks.h)
/// the object that they packed it into.
struct Saved {
  IntrusivePtr<Storage> storage;
  View view;
  DType dtype = DType::f32;
  uint64_t version = 0;
  std::shared_ptr<Packed> packed;

  // (A constructor, as g++ would set all bytes of an aggregate to 0 before filling it.)
  Saved() {}
  /// Saves x as it is now. If the memory was written to after the version that x's history describes, unpack() throws.
  explicit Saved(const Tensor& x) { keep(x); }
  /// Saves x into this object, which must be empty.
  void keep(const Tensor& x);
  bool empty() const { return !storage && !packed; }
  int64_t bytes() const;
};

using SavedVisitor = std::function<void(const Saved& saved, bool refers_to_leaf)>;

/// The gradients of the outputs of a node; undefined means zero.
using Gradients = std::vector<Tensor>;

/// Whether the output of a node may be recomputed in backward instead of being saved, and what that costs.
enum class Recomputable : uint8_t { no, expensive, cheap };

class Node : public Provenance {
 public:
  explicit Node(bool leaf);
  ~Node() override { delete hooks_.load(std::memory_order_relaxed); }
  static void* operator new(size_t bytes) { return detail::allocate_object(bytes); }
  static void operator delete(void* p, size_t bytes) noexcept { detail::free_object(p, bytes); }

  uint64_t sequence() const { return sequence_; }
  /// All nodes that are created from now on have at least this number.
  static uint64_t next_sequence();
  /// One edge per input, in order.
  virtual std::span<const Edge> edges() const = 0;
  virtual int output_count() const = 0;
  /// The shape and dtype of an output; null if the output is not a tensor that can have a gradient.
  virtual const Meta* meta(int output) const = 0;
  /// Computes the gradients of the inputs, one per edge, from those of the outputs (a list of output_count() entries).
  virtual Gradients run(Gradients gradients) = 0;
  /// Frees the saved tensors. If there were any, running this node again is an error.
  virtual void free_saved() = 0;
  bool freed() const { return freed_; }
  /// Of output 0, or of the tensor that it is a view of (recomputation.h).
  Recomputable recomputable() const { return recomputable_; }
  /// Calls `visit` for each saved tensor, with a flag whether its memory belongs to a leaf.
  virtual void visit_saved(const SavedVisitor&) const {}
  /// The number of bytes saved for backward.
  int64_t saved_bytes() const;
  /// The op with its attributes, for the graph dump.
  virtual std::string describe() const { return name(); }

  /// Marks the node as visited by this run. Returns true on the first visit.
  bool visit(uint64_t run) const {
    if (visited_by_.load(std::memory_order_relaxed) == run) return false;
    visited_by_.store(run, std::memory_order_relaxed);
    return true;
  }
  bool has_hooks() const { return hooks_.load(std::memory_order_acquire) != nullptr; }
  /// Calls the hooks of output `index` and returns the resulting gradient, which it keeps if it is retained.
  Tensor through_hooks(int index, Tensor gradient) const;

  // Provenance
  void record(const OpCall& call) const override;
  bool would_keep(const OpInfo& info, std::span<const Tensor* const> inputs, size_t index) const override;
  void backward(int index, const Tensor& seed, const BackwardOptions& options) override;
  int add_hook(int index, GradientHook hook) override;
  void remove_hook(int number) override;
  Tensor gradient(int index) const override;
  void set_gradient(int index, const Tensor& gradient) override;
  void retain_gradient(int index) override;
  int add_accumulated_hook(AccumulatedHook hook) override;
  void set_requires_grad(bool value) override;
  void set_name(const std::string& name) override;
  void replaced(const Tensor& leaf) override;

 protected:
  /// The index under which the post-accumulate hooks of a leaf are registered.
  static constexpr int kAccumulated = -1;
  bool freed_ = false;
  Recomputable recomputable_ = Recomputable::no;

 private:
  struct Hook {
    int index;
    std::shared_ptr<const GradientHook> function;  // shared by copies of the list: a hook may have state
  };
  struct Hooks {
    std::map<int, Hook> list;        // by number: in the order in which they were added
    std::map<int, Tensor> retained;  // by output: the sum of its gradients
  };
  void dispose() noexcept override;
  /// The retained gradient of an output; null if it is not retained. The lock of the hooks must be held.
  Tensor* retained(int index) const;
  void add_retained(int index, const Tensor& gradient) const;

  uint64_t sequence_;
  Node* next_waiting_ = nullptr;                 // in the list of dispose()
  mutable std::atomic<uint64_t> visited_by_{0};  // the last run that visited the node
  std::atomic<Hooks*> hooks_{nullptr};           // made by the first hook
};

/// Whether `x` may be overwritten: it is the only handle of its memory, the memory is not borrowed (Tensor::wrap), and
/// writes in place take x (they refuse a copy in place of a padded view).
inline bool holds_alone(const Tensor& x) {
  const Storage& storage = internal::storage(x);
  return internal::is_sole_handle(x) && storage.unique() && !storage.is_borrowed() && !internal::body(x).copies_padded;
}
/// The node of a tensor; null if it has no history.
inline Node* node_of(const Tensor& x) { return static_cast<Node*>(internal::body(x).history.get()); }
/// Whether the edge refers to a leaf or a view of a leaf.
inline bool refers_to_leaf(const Edge& edge) {
  return edge.node && (edge.node->is_leaf() || edge.node->is_view_of_leaf());
}
/// The edge to the node that receives the gradient of `x`; its node is null if x needs no gradient.
Edge edge_of(const Tensor& x);
/// `roots` and all nodes behind them by sequence number: inputs come before what uses them. Nodes older than number
/// `oldest` are left out.
std::map<uint64_t, const Node*> nodes_behind(const std::vector<const Node*>& roots, uint64_t oldest = 0);
/// A tensor on the saved memory with the history of `edge`. GradientError, naming `op`, if the memory was written to
/// after it was saved.
Tensor unpack(const Saved& saved, const Edge& edge, std::string_view op, std::string_view what, int index);

}  // namespace weft::autograd
