// Recorded: one call of a function on proxies for its arguments, so that it can be differentiated with respect to
// them whether or not they require a gradient. What vjp, jvp and jacobian are made of.
//
// An argument that requires a gradient is replaced by an identity of it, any other by a private leaf. Thus
// transforms nest: what an inner one computes has the history that leads to the outer one's proxies.
//
// Results carry history only where it can be used: where recording is on and a path leads to a leaf that is no
// proxy (the caller's parameters, or what an enclosing transform differentiates).
#pragma once

#include <functional>
#include <vector>

#include "tensor/tensor.h"

namespace weft::autograd {

using Tensors = std::vector<Tensor>;
using ManyToMany = std::function<Tensors(const Tensors&)>;

class Recorded {
 public:
  /// Runs `f`. `name` is the transform, for errors; DtypeError where an argument is not floating.
  Recorded(const char* name, const ManyToMany& f, const Tensors& arguments);

  const Tensors& outputs() const { return outputs_; }
  /// Whether a gradient of this call should itself have history; `seeds` are what it is taken along.
  bool is_differentiable(const Tensors& seeds) const;
  /// Whether it has to be recorded: where it is differentiable, and inside of vmap, where the batches behind the
  /// samples may have a history that the samples do not show.
  bool must_record(bool differentiable) const;
  /// The gradients of the outputs, weighted by `seeds`, with respect to the arguments: zeros where no path leads there.
  Tensors gradients(const Tensors& seeds, bool create_graph) const;
  /// Those of one output alone; the graph stays.
  Tensors gradients_of(size_t output, const Tensor& seed, bool create_graph) const;
  /// As the caller may keep it: without history where that leads to proxies only.
  Tensors finished(const Tensors& results, bool differentiable) const;

 private:
  bool recording_;        // of the caller
  bool sampled_ = false;  // an argument or output is a sample of vmap
  bool leads_out_;        // a path leads to a leaf that is no proxy
  Tensors arguments_;
  Tensors outputs_;
};

/// grad(), but with zeros for the inputs that no path reaches, and for outputs that have no history.
Tensors gradients_or_zeros(const Tensors& outputs, const Tensors& inputs, const Tensors& seeds, bool create_graph,
                           bool retain_graph);
/// A new leaf over x's memory.
Tensor proxy_leaf(const Tensor& x);

}  // namespace weft::autograd
