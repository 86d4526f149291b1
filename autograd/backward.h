// Computing gradients of a recorded graph: backward() and grad().
//
// As soon as the last contribution to a leaf's gradient has been added, the hooks of the leaf are called
// (Tensor::register_post_accumulate_grad_hook); backward through earlier ops may still follow.
//
// A run frees the tensors that nodes saved for backward, unless retain_graph is set. A second run through such a node
// is a GradientError. A node that saved nothing (a sum, a cast, a view) can be run any number of times.
//
// Threads: several threads may run backward at the same time on graphs that share only leaves. Contributions are added
// to a leaf under its lock, so none is lost; the order of additions, and so the last bits of the sum, can vary.
// Not allowed at the same time: running graphs that share a node other than a leaf; writing to a leaf that another
// thread's graph reads (an optimizer's step); reading the values of a leaf's grad() while another thread adds to it.
#pragma once

#include <concepts>
#include <vector>

#include "tensor/core/owned.h"
#include "tensor/tensor.h"

namespace weft {

/// Options of grad().
struct GradOptions {
  bool create_graph = false;  // record backward, so that gradients can be differentiated (implies retain_graph)
  bool retain_graph = false;  // keep saved tensors, so that the graph can be run again
  /// If an output does not depend on an input, its gradient is an undefined Tensor instead of an error. An input that
  /// the graph reaches but that gets no gradient is undefined as well; without this option its gradient is zeros.
  bool allow_unused = false;
  std::vector<Tensor> seeds = {};  // gradients of the outputs; default: 1 for outputs of one element
};

/// The gradients of the sum of all outputs, weighted by the seeds, with respect to `inputs` (leaves or other tensors).
/// Does not change grad() of leaves. GradientError if an output has no history, if an output with several elements has
/// no seed, or if there is an input on which no output depends (unless allow_unused).
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options = {});
/// The gradient of one tensor with respect to another: `grad(loss, w)`.
template <std::same_as<Tensor> Output, std::same_as<Tensor> Input>
Tensor grad(const Output& output, const Input& input, const GradOptions& options = {}) {
  return grad(std::vector<Tensor>{output}, std::vector<Tensor>{input}, options)[0];
}
/// The gradients of one tensor: `grad(loss, model.parameters())`.
template <std::same_as<Tensor> Output>
std::vector<Tensor> grad(const Output& output, const std::vector<Tensor>& inputs, const GradOptions& options = {}) {
  return grad(std::vector<Tensor>{output}, inputs, options);
}

/// Tensor::backward for several tensors: adds the gradients of `roots` to the leaves. seeds[i] is the gradient of
/// roots[i]; an undefined seed means 1.
void backward(const std::vector<Tensor>& roots, const std::vector<Tensor>& seeds = {},
              const BackwardOptions& options = {});

/// While alive, checks the results and gradients of every op of this thread for NaN and Inf. The error names the op
/// that produced them. Scopes end on the thread where they began, in any order.
class AnomalyMode {
 public:
  [[nodiscard]] AnomalyMode();
  ~AnomalyMode();
  AnomalyMode(const AnomalyMode&) = delete;
  AnomalyMode& operator=(const AnomalyMode&) = delete;

 private:
  struct Watcher;
  Owned<Watcher> watcher_;
};

}  // namespace weft
