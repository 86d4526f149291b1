// Running the tape: backward() and grad().
//
// A leaf's gradient is complete, added up and announced (Tensor::register_post_accumulate_grad_hook) as soon as its
// last contribution has come, while older ops have yet to run.
//
// A run drops what nodes kept for it, unless retain_graph: a second run through such a node is an error. A node that
// kept nothing (a sum, a cast, a view) can be run as often as wanted.
//
// Threads: several threads may run backward at once on graphs that share leaves and nothing else. Each contribution is
// added to a leaf under the leaf's lock, so none is lost; the order of the sum, and so its last bits, varies.
// What threads must not do at once: run graphs that share a node that is no leaf; write to a leaf that another thread's
// graph reads (an optimizer's step); read the values of a leaf's grad(), or register hooks on it, while another thread
// adds to it.
#pragma once

#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// Options of grad().
struct GradOptions {
  bool create_graph = false;  // the gradients can be differentiated again (implies retain_graph)
  bool retain_graph = false;  // the graph can be run again
  /// An input that no path reaches gets an undefined Tensor instead of an error; so does one to which no gradient
  /// flows, which has zeros otherwise.
  bool allow_unused = false;
  std::vector<Tensor> seeds = {};  // gradients of the outputs; 1 for scalars where absent
};

/// The gradients of the sum of `outputs` (weighted by seeds) with respect to `inputs` (leaves or not); nothing is
/// stored on leaves. GradientError where an output has no history, is no scalar and has no seed, or an input is not
/// reached.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options = {});

/// Adds the gradients of `roots` (with `seeds`, undefined for 1) to the leaves: Tensor::backward for several tensors.
void backward(const std::vector<Tensor>& roots, const std::vector<Tensor>& seeds = {},
              const BackwardOptions& options = {});

/// Checks every op's results and gradients for NaN and Inf while alive, and names the op that made one.
class AnomalyMode {
 public:
  [[nodiscard]] AnomalyMode();
  ~AnomalyMode();
  AnomalyMode(const AnomalyMode&) = delete;
  AnomalyMode& operator=(const AnomalyMode&) = delete;

 private:
  struct Watcher;
  std::unique_ptr<Watcher> watcher_;
  bool previous_;
};

}  // namespace weft
