// FunctionNode: the history of a Function's results.
#pragma once

#include "autograd/function.h"
#include "autograd/node.h"

namespace weft::autograd {

struct Context::Pending {
  Tensor tensor;
  Saved saved;
};

/// The history of a Function's results.
class FunctionNode final : public Node {
 public:
  static void record(std::string name, Context context, FunctionBackward backward, const std::vector<Tensor>& inputs,
                     std::vector<Tensor>& outputs);

  std::span<const Edge> edges() const override { return edges_; }
  int output_count() const override { return static_cast<int>(metas_.size()); }
  const Meta* meta(int output) const override { return &metas_[static_cast<size_t>(output)]; }
  Gradients run(Gradients gradients) override;
  void free_saved() override;
  void visit_saved(const SavedVisitor& visit) const override;
  std::string name() const override { return name_; }
  /// The edge to what a result is a view of, where this node is_view_of_leaf().
  const Edge& base_edge() const { return edges_[base_input_]; }

 private:
  /// A tensor that forward saved, and its history: the edge of an input, an output of this node, or none.
  struct SavedTensor {
    Saved saved;
    Edge edge;
    int own_output = -1;
  };
  FunctionNode() : Node(false) {}
  /// Records the results. A result that is the same tensor as an input or an earlier result gets a new body, because
  /// each body has only one history.
  void add_outputs(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);
  void save(std::vector<Context::Pending>& saved, const std::vector<Tensor>& inputs,
            const std::vector<Tensor>& outputs);

  std::string name_;
  Context context_;
  FunctionBackward backward_ = nullptr;
  std::vector<Edge> edges_;
  size_t base_input_ = 0;
  std::vector<Meta> metas_;
  std::vector<SavedTensor> saved_;
};

}  // namespace weft::autograd
