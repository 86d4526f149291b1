// Placement: memory in which a rule can write the gradients of a node's inputs directly.
//
// The inputs of attention are often views of one tensor, the packed projection of q, k and v. Normally the gradient of
// each view would be a new tensor that is then copied into the gradient of the whole tensor. Instead, the engine
// allocates the gradient of the whole tensor first and passes views of it to the rule (Into<I>, rule.h). Then nothing
// is copied, and the nodes of the views have nothing to do. A parameter with a gradient buffer (gradient_buffer.h) is
// handled as such a whole tensor as well.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "autograd/node.h"

namespace weft::autograd {

/// An input of a node that is a view of another tensor: the edge of that tensor (the whole), and the view in terms of
/// its row-major memory.
struct Part {
  Edge whole;
  View view;
};

class Placement {
 public:
  /// Input number `input` (of `inputs`) is `part`. Ignored if it overlaps a part that was added before.
  void add(size_t input, size_t inputs, const Part& part, Device device);
  /// Input number `input` is a leaf whose gradient belongs in `buffer`. Ignored if the leaf is already a whole.
  void add_leaf(size_t input, size_t inputs, const Edge& leaf, const Tensor& buffer);
  /// Allocates the gradients of the wholes that have no buffer. They are filled with zeros if the parts do not cover
  /// them.
  void allocate();
  /// The memory for the gradient of each input, undefined for inputs without a placement; empty if no input has one.
  std::span<const Tensor> into() const { return into_; }
  /// Whether the rule wrote `gradient` of input number `input` into its placement, so that it need not be added.
  bool took(size_t input, const Tensor& gradient);
  /// Calls `add` with the gradient of each whole of which a part was written. Parts that were not written become zero.
  void finish(const std::function<void(const Edge& whole, Tensor gradient)>& add);

 private:
  struct Placed {
    size_t input;
    View view;
    bool written = false;
  };
  struct Whole {
    Edge edge;
    Device device;
    std::vector<Placed> parts;
    Tensor gradient = {};
  };
  std::vector<Whole>::iterator find(const Edge& edge);

  std::vector<Whole> wholes_;
  std::vector<Tensor> into_;
};

}  // namespace weft::autograd
