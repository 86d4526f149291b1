// OpNode: the history of one op's outputs. It holds the op's descriptor, the edges to its inputs, and exactly what the
// rules of the inputs that need a gradient read.
#pragma once

#include "autograd/node.h"
#include "autograd/rule.h"

namespace weft::autograd {

class OpNode final : public Node {
 public:
  /// Gives the outputs of `call` their history, or a mark where the op has no gradient.
  static void create(const OpCall& call);

  explicit OpNode(const OpCall& call, const Rule& rule);
  std::span<const Edge> edges() const override { return {edges_.get(), inputs_}; }
  int output_count() const override { return outputs_; }
  const Meta* meta(int output) const override { return &metas_[output]; }
  Gradients run(Gradients gradients) override;
  void free_saved() override;
  int64_t saved_bytes() const override;
  std::string name() const override { return std::string(op_.name()); }
  std::string describe() const override { return op_.to_string(); }
  const AnyOp& op() const { return op_; }
  /// The view of input 0, for view ops.
  const View& input_view() const { return views_[0]; }

 private:
  friend class RuleArguments;
  void take_edges(std::vector<NodePtr>& out) noexcept override;

  AnyOp op_;
  const Rule& rule_;
  uint32_t inputs_;
  uint32_t outputs_;
  std::unique_ptr<Edge[]> edges_;
  std::unique_ptr<Meta[]> metas_;
  std::unique_ptr<Saved[]> saved_inputs_;   // null where none is read
  std::unique_ptr<Saved[]> saved_outputs_;  // null where none is read
  std::unique_ptr<View[]> views_;           // null where none is read
};

}  // namespace weft::autograd
