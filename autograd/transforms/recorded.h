// Recorded: one call of a function with proxies for its arguments, so that it can be differentiated with respect to
// them, whether or not they require a gradient. vjp, jvp and jacobian are built on it.
//
// The proxy of an argument that requires a gradient is the result of an identity op on it; the proxy of any other
// argument is a new leaf. So transforms nest: the results of an inner one have a history that leads to the outer one's
// proxies.
//
// Results have history only if recording is on and their graph leads to a leaf that is not a proxy (the caller's
// parameters, or the proxies of an enclosing transform).
#pragma once

#include <functional>
#include <unordered_set>
#include <vector>

#include "autograd/saver.h"
#include "tensor/tensor.h"

namespace weft::autograd {

using Tensors = std::vector<Tensor>;
using ManyToMany = std::function<Tensors(const Tensors&)>;

class Node;

class Recorded {
 public:
  /// Runs `f`. `name` is the transform that errors name. DtypeError if an argument is not floating.
  Recorded(const char* name, const ManyToMany& f, const Tensors& arguments);

  const Tensors& outputs() const { return outputs_; }
  /// Whether a gradient of this call, with the given `seeds`, should itself have history.
  bool is_differentiable(const Tensors& seeds) const;
  /// Whether the gradient must be recorded: if it is differentiable, and always inside of vmap, because the batch
  /// tensors may have a history even if the samples do not.
  bool must_record(bool differentiable) const;
  /// The gradients of the outputs, weighted by `seeds`, with respect to the arguments; zeros for an argument that the
  /// outputs do not depend on.
  Tensors gradients(const Tensors& seeds, bool create_graph, bool retain_graph = false) const;
  /// The same for only one output. The graph is retained.
  Tensors gradients_of(size_t output, const Tensor& seed, bool create_graph) const;
  /// `results` for the caller: detached if their history leads only to proxies.
  Tensors finished(const Tensors& results, bool differentiable) const;
  /// Detaches those tensors of a second result of f that have a history which leads only to proxies. Returns whether
  /// another keeps its history, which may share nodes with that of the outputs.
  bool finish_aux(const std::vector<Tensor*>& aux) const;

 private:
  SaverScope saver_{current_saver() ? current_saver()->of_transforms() : nullptr};
  bool recording_;        // of the caller
  bool sampled_ = false;  // an argument or output is a sample of vmap
  bool leads_out_;        // the graph leads to a leaf that is not a proxy
  Tensors arguments_;
  std::unordered_set<const Node*> own_;  // of the proxies that are leaves
  Tensors outputs_;
};

/// `results` for a caller that records if `recording`: detached unless `differentiable`.
Tensors handed_out(const Tensors& results, bool differentiable, bool recording);
/// grad(), but with zeros instead of an error for inputs that the outputs do not depend on and for outputs without
/// history.
Tensors gradients_or_zeros(const Tensors& outputs, const Tensors& inputs, const Tensors& seeds, bool create_graph,
                           bool retain_graph);
/// ShapeError unless there is one direction for each tensor of `along`, a list of `what` (`output`, `argument`), of its
/// shape; one for a single element may be undefined if `may_be_absent`. `name` is the transform that errors name.
void check_directions(const char* name, const Tensors& along, const Tensors& v, const char* what, bool may_be_absent);
/// A new leaf over x's memory.
Tensor proxy_leaf(const Tensor& x);

}  // namespace weft::autograd
