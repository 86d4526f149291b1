// OpNode: the history of the outputs of one op. It holds the op's descriptor, the edges to its inputs, and exactly the
// tensors that the rules read for those inputs that need a gradient.
#pragma once

#include <atomic>
#include <typeinfo>

#include "autograd/node.h"
#include "autograd/node_array.h"
#include "autograd/recomputation.h"
#include "autograd/rule.h"

namespace weft::autograd {

/// An input saved for the rules: its memory, or a way to recompute it.
struct SavedInput : Saved {
  Recomputation recomputation;
  bool empty() const { return Saved::empty() && recomputation.empty(); }
};

class OpNode final : public Node {
 public:
  /// Sets the history of the outputs of `call`. If the op has no gradient, marks the outputs as cut off.
  static void create(const OpCall& call);

  /// Whether a node of this op on these inputs would save input `index`, or need it for a recomputation.
  static bool keeps_input(const OpInfo& info, std::span<const Tensor* const> inputs, size_t index);

  explicit OpNode(const OpCall& call, const Rule& rule);
  std::span<const Edge> edges() const override { return {edges_.data(), edges_.size()}; }
  int output_count() const override { return static_cast<int>(metas_.size()); }
  const Meta* meta(int output) const override { return &metas_[static_cast<size_t>(output)]; }
  Gradients run(Gradients gradients) override { return run_into(std::move(gradients), {}, kAllInputs); }
  /// run() for the inputs in `wanted` (bits as in needs()). `into` has memory in which the rule may write the
  /// gradients: one Tensor for each input, undefined if there is none.
  Gradients run_into(Gradients gradients, std::span<const Tensor> into, uint64_t wanted);
  static constexpr uint64_t kAllInputs = ~uint64_t{0};
  /// Bit i: the rule can write the gradient of input i into given memory.
  uint32_t placed_inputs() const { return rule_.places ? rule_.reads(needs()).into : 0; }
  void free_saved() override;
  void visit_saved(const SavedVisitor& visit) const override;
  std::string name() const override { return std::string(op_.name()); }
  std::string describe() const override { return op_.to_string(); }
  const AnyOp& op() const { return op_; }

 private:
  friend class RuleArguments;
  friend class Recomputation;
  /// Whether output 0 will be recomputed in backward; what this needs of the inputs must then be saved too.
  bool is_worth_recomputing(const OpCall& call, const Reads& reads) const;
  /// Saves the inputs, outputs and layouts that `reads` names.
  void save(const OpCall& call, const Reads& reads);
  void save_input(size_t index, const Tensor& x, bool if_recording);
  Tensor saved_input(size_t index, const Edge& edge) const;
  /// Whether output 0 can be recomputed from the saved tensors (only for nodes that are recomputable()).
  bool can_recompute() const;
  /// Whether anything is saved for backward.
  bool saves() const;
  /// Bit i: input i needs a gradient (bit 63 stands for input 63 and all later ones).
  uint64_t needs() const;

  AnyOp op_;
  const Rule& rule_;
  NodeArray<Edge, 2> edges_;               // one per input
  NodeArray<Meta, 1> metas_;               // one per output
  NodeArray<SavedInput, 0> saved_inputs_;  // empty if the rules read none; likewise the next two
  NodeArray<Saved, 0> saved_outputs_;
  NodeArray<View, 0> views_;
  std::atomic<int> recomputations_{0};  // the number of Recomputations that need this node's inputs
};

/// The node as an OpNode, or null if it is of another type.
inline const OpNode* as_op_node(const Node* node) {
  return node != nullptr && typeid(*node) == typeid(OpNode) ? static_cast<const OpNode*>(node) : nullptr;
}

}  // namespace weft::autograd
