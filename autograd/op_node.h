// OpNode: the history of one op's outputs. It holds the op's descriptor, the edges to its inputs, and exactly what the
// rules of the inputs that need a gradient read.
#pragma once

#include <atomic>
#include <typeinfo>

#include "autograd/node.h"
#include "autograd/node_array.h"
#include "autograd/recomputation.h"
#include "autograd/rule.h"

namespace weft::autograd {

/// An input as the rules will read it: memory, or how to compute it again.
struct SavedInput : Saved {
  Recomputation recomputation;
  bool empty() const { return Saved::empty() && recomputation.empty(); }
};

class OpNode final : public Node {
 public:
  /// Gives the outputs of `call` their history, or a mark where the op has no gradient.
  static void create(const OpCall& call);

  /// Whether a node of this op on these inputs would keep input `index`, as memory or for a recomputation.
  static bool keeps_input(const OpInfo& info, std::span<const Tensor* const> inputs, size_t index);

  explicit OpNode(const OpCall& call, const Rule& rule);
  std::span<const Edge> edges() const override { return {edges_.data(), edges_.size()}; }
  int output_count() const override { return static_cast<int>(metas_.size()); }
  const Meta* meta(int output) const override { return &metas_[static_cast<size_t>(output)]; }
  Gradients run(Gradients gradients) override { return run_into(gradients, {}, kAllInputs); }
  /// run() for the inputs in `wanted` (as needs()), with memory in which the rule may write gradients: one Tensor for
  /// each input, undefined where there is none.
  Gradients run_into(const Gradients& gradients, std::span<const Tensor> into, uint64_t wanted);
  static constexpr uint64_t kAllInputs = ~uint64_t{0};
  /// Bit i: its rule can write the gradient of input i where it is wanted.
  uint32_t placed_inputs() const { return rule_.places ? rule_.reads(needs()).into : 0; }
  void free_saved() override;
  void visit_saved(const SavedVisitor& visit) const override;
  std::string name() const override { return std::string(op_.name()); }
  std::string describe() const override { return op_.to_string(); }
  const AnyOp& op() const { return op_; }

 private:
  friend class RuleArguments;
  friend class Recomputation;
  void save_input(size_t index, const Tensor& x);
  Tensor saved_input(size_t index, const Edge& edge) const;
  /// Whether what is saved suffices to compute output 0 again (asked of nodes whose may_recompute() holds).
  bool can_recompute() const;
  /// Whether anything is kept for backward.
  bool saves() const;
  /// Bit i: input i needs a gradient (bit 63 stands for all from there on).
  uint64_t needs() const;

  AnyOp op_;
  const Rule& rule_;
  NodeArray<Edge, 2> edges_;               // one per input
  NodeArray<Meta, 1> metas_;               // one per output
  NodeArray<SavedInput, 0> saved_inputs_;  // empty where none is read, as those below
  NodeArray<Saved, 0> saved_outputs_;
  NodeArray<View, 0> views_;
  std::atomic<int> recomputations_{0};  // how many need this node's inputs
};

/// Null where it is of another kind.
inline const OpNode* as_op_node(const Node* node) {
  return node != nullptr && typeid(*node) == typeid(OpNode) ? static_cast<const OpNode*>(node) : nullptr;
}

}  // namespace weft::autograd
